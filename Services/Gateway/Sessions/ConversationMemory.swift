internal import Bus
internal import SessionStore
internal import Synchronization
internal import Telemetry
internal import Wire

/// Summarises what was said in a session before the turns that go along with a request word for word. It happens beside
/// the requests and never in their way: the summary that is there goes along, and the next one with what comes later.
///
/// Nothing leaves this host for it. What may go to outside parties is for the user to decide, and nobody asks him in the
/// background; so the skill is told that nothing may.
final class ConversationMemory: Sendable {
    /// Bytes of turns without a summary from which on they get one.
    static let threshold = 1024
    /// Bytes of a summary: it rides in every job.
    static let summaryBytes = 4 * 1024
    /// Turns that are read, and bytes that are summarised, at a time. What is more waits for the next time.
    static let turns = 50
    static let bytes = 64 * 1024
    /// Bytes of one text of a turn.
    static let textBytes = 4 * 1024
    /// Summaries that are being made at a time, for all sessions.
    static let parallel = 4
    /// Points that the skill is asked for.
    private static let points = 8

    /// Times that tests shorten.
    struct Patience: Sendable {
        /// How long a summary may take.
        var limit = Duration.seconds(600)
        /// How long after one that failed none is tried for its session.
        var afterFailure: UInt64 = 60_000
    }

    private struct State {
        /// The jobs that run, by session; none until the turns are read.
        var running: [Identifier: Identifier] = [:]
        /// Sessions whose last one failed, and until when none is tried, in milliseconds of the steady clock.
        var failed: [Identifier: UInt64] = [:]
    }

    private let store: any SessionStore
    private let requests: OpenRequests
    private let links: RouterLinks
    private let log: Log
    /// The skill that summarises; nil where nothing is summarised.
    private let skill: String?
    private let patience: Patience
    private let state = Mutex(State())

    init(
        store: any SessionStore,
        requests: OpenRequests,
        links: RouterLinks,
        log: Log,
        skill: String?,
        patience: Patience = Patience()
    ) {
        self.store = store
        self.requests = requests
        self.links = links
        self.log = log
        self.skill = skill
        self.patience = patience
    }

    /// Sees to it, beside everything else, that turns before one, by their numbers, get a summary if there are enough.
    func consider(_ session: Identifier, before number: Int64) {
        // Without a worker for it nothing is read either.
        guard let skill, let router = requests.routerServing(skill) else { return }
        let now = Monotonic.milliseconds
        let isDue = state.withLock { state in
            guard state.running[session] == nil, state.running.count < ConversationMemory.parallel,
                now >= state.failed[session] ?? 0
            else { return false }
            state.running[session] = Identifier.none
            return true
        }
        guard isDue else { return }
        Task {
            await summarise(session, before: number, by: skill, at: router)
            state.withLock { $0.running[session] = nil }
        }
    }

    /// Ends what is being made of a session that is to be forgotten.
    func forget(_ session: Identifier) {
        let job = state.withLock { state in
            state.failed[session] = nil
            return state.running[session]
        }
        if let job, job != .none { links.cancel(job, generation: 1) }
    }

    private func summarise(_ session: Identifier, before number: Int64, by skill: String, at router: Identifier) async {
        do {
            let page = try await store.unsummarised(in: session, before: number, limit: ConversationMemory.turns)
            guard let next = Transcript(page) else { return }
            let request = Identifier.timeOrdered(milliseconds: UInt64(max(0, Timestamp.now.milliseconds)))
            var input = JobInput(session: session.description, text: next.text)
            let tenant = TenantNumber.of(page.owner)
            input.tenant = tenant == 0 ? nil : tenant
            input.arguments = ["points": .number(Double(ConversationMemory.points))]
            // It is of use once, and a session that is forgotten is to leave nothing behind.
            input.cache = false
            var header = Header(.submit, flags: .lowPriority, job: request, generation: 1)
            header.value = UInt64(patience.limit.components.seconds) * 1000
            let message = Outgoing(header, body: try JobBody.encode(skill: skill, input: input))
            try message.check()
            state.withLock { $0.running[session] = request }
            let result = await requests.background.run(request, at: router, within: patience.limit + .seconds(5)) {
                links.send(message, to: router)
            }
            let output: SkillOutput
            switch result {
            case .success(let made): output = made
            case .failure(let error): return failed(session, "\(error.code): \(error.message)")
            }
            let text = History.cut(output.text, ConversationMemory.summaryBytes)
            guard text.contains(where: { !$0.isWhitespace }) else { return failed(session, "it is empty") }
            let turns = (page.summary?.turns ?? 0) + next.turns
            let summary = ConversationSummary(text: text, last: next.last, turns: turns, time: .now)
            try await store.summarised(session, as: summary)
            state.withLock { $0.failed[session] = nil }
        } catch StoreError.notFound {
            // The session, or what was summarised, has been deleted meanwhile.
        } catch {
            failed(session, "\(error)")
        }
    }

    private func failed(_ session: Identifier, _ reason: String) {
        log.warning("earlier turns are not summarised", ["session": "\(session)", "reason": .text(reason)])
        let now = Monotonic.milliseconds
        state.withLock { state in
            if state.failed.count >= 1000 { state.failed = state.failed.filter { $0.value > now } }
            // So many fail for a reason that is not theirs: which of them waits does not matter.
            if state.failed.count >= 1000 { state.failed = [:] }
            state.failed[session] = now + patience.afterFailure
        }
    }
}

/// What is given to be summarised: the summary so far, and the turns after it.
private struct Transcript {
    private(set) var text: String
    /// How many turns there are in it, and the number of the last.
    private(set) var turns = 0
    private(set) var last: Int64 = 0

    /// Nil where it is not worth it yet.
    init?(_ page: TurnPage) {
        text = page.summary.map { $0.text + "\n\n" } ?? ""
        var bytes = 0
        for turn in page.turns {
            var said = "User: \(History.cut(turn.text, ConversationMemory.textBytes))\n\n"
            if let answer = turn.answer, !answer.isEmpty {
                said += "Assistant: \(History.cut(answer, ConversationMemory.textBytes))\n\n"
            }
            guard turns == 0 || bytes + said.utf8.count <= ConversationMemory.bytes else { break }
            text += said
            bytes += said.utf8.count
            turns += 1
            last = turn.number
        }
        guard bytes >= ConversationMemory.threshold else { return nil }
    }
}
