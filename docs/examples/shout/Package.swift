// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "shout",
    dependencies: [.package(name: "skillbus", path: "../../..")],
    targets: [
        .executableTarget(
            name: "shout",
            dependencies: [.product(name: "SkillKit", package: "skillbus")],
            path: "Sources/Shout"
        )
    ]
)
