internal import Lifecycle
internal import SessionClient

/// `skillbus forget`: deletes sessions with everything of them.
enum ForgetCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus forget",
            "delete sessions and everything of them",
            operands: "SESSION...",
            options: [CommonOptions.url],
            details: """
                What runs in a session is cancelled first. Then its texts, answers, files and events are deleted from the
                store of the gateway, and overwritten in its files. There is no way back.
                """
        ),
        operands: 1...1000
    ) { options in
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        for session in options.operands {
            try await client.forget(session)
            try Output.line("forgotten \(session)")
        }
        return ExitCode.success
    }
}
