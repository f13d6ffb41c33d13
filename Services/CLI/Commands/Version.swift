internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus version`.
enum VersionCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus version",
            "show the version",
            options: [
                .flag("verbose", short: "v", "the protocol, and what the gateway says of itself"), CommonOptions.url,
            ]
        ),
        operands: 0...0
    ) { options in
        try Output.line("skillbus \(Product.version)")
        guard options.flag("verbose") else { return ExitCode.success }
        try Output.line("protocol \(Header.version)")
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        do throws(ClientError) {
            let health = try await client.health()
            let version = health["version"]?.string ?? health["product"]?.string
            try? Output.line("gateway \(client.url): \(version.map { "version \(Terminal.line($0))" } ?? "up")")
        } catch {
            try Output.line("gateway \(client.url): \(error)")
        }
        return ExitCode.success
    }
}
