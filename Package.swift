// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Shared/\(name)",
        swiftSettings: strict
    )
}

func service(_ name: String, path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Services/\(path)", swiftSettings: strict)
}

func worker(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    service("\(name)Worker", path: "Workers/\(name)", ["SkillKit", "Wire", "Lifecycle"] + dependencies)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: dependencies,
        path: "Tests/\(name)",
        exclude: exclude,
        swiftSettings: strict
    )
}

func bench(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: "Bench\(name)",
        dependencies: dependencies,
        path: "Tests/Bench/\(name)",
        swiftSettings: strict
    )
}

let workers = ["Summarize", "Keywords", "Knowledge", "Calculator", "Chat", "Translate", "Citations", "Agent"]

let package = Package(
    name: "skillbus",
    products: [
        .executable(name: "skillbus", targets: ["CLI"]),
        .executable(name: "skillbus-router", targets: ["Router"]),
        .executable(name: "skillbus-gateway", targets: ["Gateway"]),
        .library(name: "SkillKit", targets: ["SkillKit"]),
        .library(name: "SkillKitTesting", targets: ["SkillKitTesting"]),
    ] + workers.map { .executable(name: "skillbus-worker-\($0.lowercased())", targets: ["\($0)Worker"]) },
    targets: [
        // C libraries. libzmq has no pkgConfig: Debian's file names a flag that SwiftPM refuses with a warning.
        .systemLibrary(name: "CZMQ", path: "Shared/CZMQ", providers: [.apt(["libzmq3-dev"])]),
        .systemLibrary(
            name: "CCurl",
            path: "Shared/CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]
        ),
        .systemLibrary(
            name: "CSQLite",
            path: "Shared/CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(
            name: "CPostgres",
            path: "Shared/CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"])]
        ),
        .systemLibrary(
            name: "CMicroHTTPD",
            path: "Shared/CMicroHTTPD",
            pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]
        ),
        .systemLibrary(name: "CICU", path: "Shared/CICU", pkgConfig: "icu-uc", providers: [.apt(["libicu-dev"])]),
        .systemLibrary(name: "CGMP", path: "Shared/CGMP", providers: [.apt(["libgmp-dev", "libmpfr-dev"])]),
        .systemLibrary(name: "CEdit", path: "Shared/CEdit", providers: [.apt(["libedit-dev"])]),
        .systemLibrary(name: "CSodium", path: "Shared/CSodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CStemmer", path: "Shared/CStemmer", providers: [.apt(["libstemmer-dev"])]),
        .target(name: "CLinux", path: "Shared/CLinux"),

        library("Wire"),
        library("Telemetry", ["CLinux"]),
        library("Lifecycle", ["CLinux"]),
        library("Text", ["CICU", "CStemmer"]),
        library("Credentials", ["CSodium", "CLinux"]),
        library("Bus", ["Wire", "Credentials", "Lifecycle", "CZMQ", "CLinux"]),
        library("SkillKit", ["Wire", "Bus", "Credentials", "Telemetry", "Lifecycle"]),
        library("SkillKitTesting", ["SkillKit", "Wire"]),
        library("Material", ["SkillKit", "Text"]),
        library("Intent", ["Wire", "Text"]),
        library("SessionStore", ["Wire", "Telemetry", "Lifecycle", "CSQLite", "CPostgres"]),
        library("Transfers", ["Lifecycle", "CCurl", "CLinux"]),
        library("LLM", ["Transfers", "Wire", "Lifecycle", "Credentials"]),
        library("ModelAccess", ["LLM", "SkillKit", "Text", "Wire", "Lifecycle"]),
        library("SessionClient", ["Transfers", "Wire", "Lifecycle", "Credentials"]),
        library("HTTPServer", ["CMicroHTTPD", "CLinux", "Lifecycle"]),
        library("DocumentIndex", ["Text", "CSQLite", "CLinux"]),

        service("Router", path: "Router", ["Bus", "Credentials", "Wire", "Intent", "Telemetry", "Text", "Lifecycle"]),
        service(
            "Gateway",
            path: "Gateway",
            ["Bus", "Credentials", "Wire", "SessionStore", "HTTPServer", "Telemetry", "Lifecycle"]
        ),
        service(
            "CLI",
            path: "CLI",
            ["SessionClient", "Credentials", "Wire", "Lifecycle", "DocumentIndex", "Intent", "CEdit", "CLinux"]
        ),
        worker("Summarize", ["Material", "ModelAccess", "LLM", "Text"]),
        worker("Keywords", ["ModelAccess", "LLM", "Material", "Text"]),
        worker("Knowledge", ["DocumentIndex", "ModelAccess", "LLM", "Text"]),
        worker("Calculator", ["CGMP", "Text"]),
        worker("Chat", ["ModelAccess", "LLM", "Text"]),
        worker("Agent", ["ModelAccess", "LLM", "Text"]),
        worker("Translate", ["ModelAccess", "LLM", "Material", "Text"]),
        worker("Citations", ["ModelAccess", "LLM", "Material", "Text"]),

        .target(name: "ThreadSanitizer", path: "Tests/ThreadSanitizer"),
        .target(
            name: "TestSupport",
            dependencies: ["CLinux", "ThreadSanitizer"],
            path: "Tests/Support",
            swiftSettings: strict
        ),
        .target(
            name: "StoreTesting",
            dependencies: ["SessionStore", "Telemetry", "Wire"],
            path: "Tests/StoreTesting",
            swiftSettings: strict
        ),
        tests("WireTests", ["Wire", "TestSupport"]),
        tests("CredentialsTests", ["Credentials", "TestSupport"]),
        tests("BusTests", ["Bus", "Credentials", "Wire", "TestSupport", "ThreadSanitizer"]),
        tests("SkillKitTests", ["SkillKit", "SkillKitTesting", "Telemetry", "Lifecycle", "Wire", "TestSupport"]),
        tests("TextTests", ["Text", "TestSupport"]),
        tests(
            "IntentTests",
            ["SummarizeWorker", "KeywordsWorker", "KnowledgeWorker", "CalculatorWorker", "ChatWorker", "AgentWorker"]
                + ["TranslateWorker", "CitationsWorker", "SkillKit", "Intent", "Wire", "TestSupport"],
            exclude: ["Utterances"]
        ),
        tests(
            "SessionStoreTests",
            ["SessionStore", "StoreTesting", "Telemetry", "Wire", "TestSupport"],
            exclude: ["Stores"]
        ),
        tests("SessionClientTests", ["SessionClient", "Transfers", "Wire", "TestSupport"]),
        tests("LLMTests", ["LLM", "Transfers", "Wire", "TestSupport"]),
        tests("HTTPServerTests", ["HTTPServer", "TestSupport"]),
        tests("RouterTests", ["Router", "Credentials", "Wire", "Bus", "TestSupport"]),
        tests(
            "GatewayTests",
            ["Gateway", "Bus", "Credentials", "Wire", "SessionStore", "HTTPServer", "Lifecycle", "Telemetry"]
                + ["StoreTesting", "TestSupport"]
        ),
        tests(
            "CLITests",
            ["CLI", "SessionClient", "Credentials", "Wire", "Lifecycle", "TestSupport"],
            exclude: ["Golden"]
        ),
        tests(
            "WorkerTests",
            ["SummarizeWorker", "KeywordsWorker", "KnowledgeWorker", "CalculatorWorker", "ChatWorker", "AgentWorker"]
                + ["TranslateWorker", "CitationsWorker", "SkillKit", "SkillKitTesting", "Material", "DocumentIndex"]
                + ["Text", "Wire", "TestSupport"]
                + ["LLM", "ModelAccess"]
        ),
        .target(name: "LibFuzzer", path: "Tests/LibFuzzer"),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "Gateway", "HTTPServer", "Intent", "LLM", "LibFuzzer", "SessionClient", "SkillKit", "Text", "Transfers",
                "Wire",
            ],
            path: "Tests/Fuzz",
            exclude: ["Corpus", "fuzz.sh"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ChaosWorker",
            dependencies: ["SkillKit", "Wire", "Lifecycle"],
            path: "Tests/Chaos/Worker",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "RoutingEval",
            dependencies: ["Intent", "Wire"],
            path: "Tests/Eval/Routing",
            swiftSettings: strict
        ),
        bench("Codec", ["Wire"]),
        bench("Gateway", ["Bus", "Wire", "Lifecycle"]),
        bench("Store", ["SessionStore", "Telemetry", "Lifecycle", "Wire"]),
        bench("LLM", ["LLM", "Lifecycle"]),
        bench("Worker", ["SkillKit", "Wire", "Lifecycle"]),
        tests(
            "PromiseTests",
            ["CLI", "Router", "Gateway", "SummarizeWorker", "KeywordsWorker", "KnowledgeWorker"]
                + ["CalculatorWorker", "ChatWorker", "AgentWorker", "TranslateWorker", "CitationsWorker"]
                + ["SessionClient", "Credentials", "Wire", "TestSupport"]
        ),
    ],
    cLanguageStandard: .gnu11
)
