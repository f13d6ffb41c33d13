internal import Glibc
internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus ask`: one request, to its end.
enum AskCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus ask",
            "make a request and stream its answer",
            operands: "[TEXT...|-]",
            options: [
                .value("file", short: "f", "FILE", "attach a file; may be repeated, up to 25 MB in all"),
                .value("skill", short: "s", "NAME", "the skill that is to serve it; else the router chooses"),
                .value("arguments", "JSON", "arguments for the skill, as a JSON object"),
                .value("session", "ID", "the session to ask in; else a new one is made"),
                .value("timeout", short: "t", "SECONDS", "give up and cancel after so long, with exit code 124"),
                .value("when-busy", "WHAT", "parallel, enqueue, reject or interrupt, while another request runs"),
                .value("priority", "WHAT", "high, normal or low, among your requests that wait for a skill"),
                RequestOptions.privacy,
                RequestOptions.noCache,
                RequestOptions.routing,
                .flag("no-wait", "print the ids of session and request, and leave it running"),
                .flag("explain", "have every skill's score in the plan; see it with --json"),
                RequestOptions.debug,
                .flag("json", "print each event as one line of JSON"),
                CommonOptions.url,
            ],
            details: """
                The text is read from standard input when there is none, or when it is "-". It may have 1 MB; attach
                longer material with --file. On a terminal a line for each running skill shows what it does; into a
                pipe goes the answer alone.

                With a text and without --file, what a pipe or file on standard input has is attached, as with
                "--file -". A pipe that says nothing for three seconds is left out.

                At a terminal you are asked before a skill sends something to an outside party; elsewhere nothing leaves
                unless --privacy allow, or the gateway's setting, says so. In a session that is there already, --privacy
                counts where it is stricter than the session's.

                Where two skills fit equally well, a person at a terminal is asked which is meant. With --json, and with
                a pipe or a file at either end, the better one serves, and nothing waits.

                With --routing model a model chooses the skill, within two seconds; where none can, the router does and
                says why. A skill that is named with --skill counts in any case.

                  skillbus ask "what is 0.1 + 0.2, to 30 places"
                  skillbus ask --file article.txt "summarize this and give me the keywords"
                  git log -20 | skillbus ask "summarise this"
                  git log -5 | skillbus ask --skill summarize
                """
        ),
        run
    )

    static func run(_ options: ParsedOptions) async throws -> Int32 {
        var request = NewRequest(try await text(options))
        request.skill = try options.name("skill")
        let given = try options.name("session")
        let files = options.values("file")
        let hasText = !options.operands.isEmpty && options.operands != ["-"]
        request.attachments =
            files.isEmpty && hasText ? try await Attachments.piped() : try await Attachments.read(files)
        let isDebug = options.flag("debug")
        request.explain = options.flag("explain") || isDebug
        request.cache = !options.flag("no-cache")
        request.routing = try RequestOptions.routing(options)
        let policy = try RequestOptions.policy(options)
        if given != nil { request.privacy = policy }
        // A person can be asked where one watches.
        let isWatched = ApprovalPrompt.isPossible && !options.flag("json") && !options.flag("no-wait")
        if let word = options.value("when-busy") {
            guard let whenBusy = NewRequest.WhenBusy(rawValue: word) else {
                throw UsageError("--when-busy must be parallel, enqueue, reject or interrupt, not \"\(word)\"")
            }
            request.whenBusy = whenBusy
        }
        if let word = options.value("priority") {
            guard let priority = NewRequest.Priority(rawValue: word) else {
                throw UsageError("--priority must be high, normal or low, not \"\(word)\"")
            }
            request.priority = priority
        }
        let asJSON = options.flag("json")
        let isFollowed = !options.flag("no-wait") && !asJSON && request.skill == nil
        let choice = isFollowed ? SkillChoice() : nil
        request.canClarify = choice != nil
        let timeout = try options.seconds("timeout")
        // Should this program be gone by then, the gateway still ends it.
        request.timeout = timeout.map { $0 + 2 }
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        if let text = options.value("arguments") {
            request.arguments = try await SkillArgumentText.read(text, for: request.skill, client)
        }
        let limit = timeout.map(TimeLimit.init)
        let (session, after) = try await within(limit) {
            if let given { return (given, Optional(try await client.snapshot(of: given).seq)) }
            return (try await client.createSession(privacy: policy ?? (isWatched ? .ask : nil)), nil)
        }
        if options.flag("no-wait") {
            let id = try await within(limit) { [request] in try await client.submit(request, in: session) }
            if asJSON {
                try Output.json(["session": session, "request": id])
            } else {
                try Output.line("\(session) \(id)")
            }
            return ExitCode.success
        }
        let run = RequestRun(
            client: client,
            session: session,
            after: after,
            request: request,
            asJSON: asJSON,
            isDebug: isDebug,
            limit: limit,
            choice: choice
        )
        return try await run()
    }

    private static func text(_ options: ParsedOptions) async throws -> String {
        let isDash = options.operands == ["-"]
        let text: String
        if options.operands.isEmpty || isDash {
            guard isDash || !isTerminal(0) else {
                throw UsageError("say what you want: skillbus ask TEXT, or give it on standard input")
            }
            text = try await standardInput()
        } else {
            text = options.operands.joined(separator: " ")
        }
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw UsageError("the text is empty: say what you want")
        }
        guard text.utf8.count <= Limits.requestText else { throw tooLong() }
        return text
    }

    private static func standardInput() async throws -> String {
        guard let bytes = try await readAll(0, named: "standard input", limit: Limits.requestText) else {
            throw tooLong()
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError("standard input is not valid UTF-8: convert it, or attach it with --file if it is no text")
        }
        return text
    }

    private static func tooLong() -> UsageError {
        UsageError(
            "the text has more than \(Limits.requestText) bytes, which is the limit: attach longer material with --file, "
                + "up to \(Limits.attachments / 1_048_576) MB"
        )
    }
}
