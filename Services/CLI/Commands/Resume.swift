internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus resume`: a session again, from any event on.
enum ResumeCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus resume",
            "show a session again and follow what runs in it",
            operands: "SESSION",
            options: [
                .value("after", short: "a", "N", "begin after event number N; else with the first"),
                .flag("follow", short: "f", "stay when nothing runs, until Ctrl-C"),
                .flag("json", "print each event as one line of JSON"), CommonOptions.url,
            ],
            details: """
                Questions and answers are shown in their order. Without --follow it ends when all that the session has
                has been shown and nothing runs in it. A broken connection is made again; no event is missed or doubled.
                """
        ),
        operands: 1...1,
        run
    )

    static func run(_ options: ParsedOptions) async throws -> Int32 {
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        let session = options.operands[0]
        let after = try options.integer("after", in: 0...Int.max).map(UInt64.init)
        let follows = options.flag("follow")
        let asJSON = options.flag("json")
        let snapshot = try await client.snapshot(of: session)
        // Requests whose beginning is not shown count as well.
        var running = Set(snapshot.running.map(\.request))
        func isOver(_ seq: UInt64) -> Bool { !follows && seq >= snapshot.seq && running.isEmpty }
        if isOver(after ?? 0) { return ExitCode.success }

        let screen = Screen(request: nil)
        defer { screen.close() }
        Interrupts.shared.handle { _ in
            screen.close()
            leave(ExitCode.interrupted)
        }
        if let summary = snapshot.summary, after == nil, !asJSON {
            let count = summary.requests.map { " \($0)" } ?? ""
            let time = summary.time.map { " (\(LogCommand.time($0)))" } ?? ""
            screen.say("its first\(count) requests go along with new ones in short\(time): \(summary.text)")
        }
        let ticker = Task {
            while !Task.isCancelled {
                if !asJSON { screen.tick() }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        defer { ticker.cancel() }
        for try await update in client.events(of: session, after: after, patience: follows ? nil : .seconds(30)) {
            switch update {
            case .connected: break
            case .disconnected(let error, _): if !asJSON { screen.lost(error) }
            case .event(let event):
                if asJSON { try Output.json(event) } else { try screen.show(event) }
                if let request = event.request {
                    if event.isTerminal { running.remove(request) } else { running.insert(request) }
                }
                if let seq = event.seq, isOver(seq) { return ExitCode.success }
            }
        }
        return ExitCode.success
    }
}
