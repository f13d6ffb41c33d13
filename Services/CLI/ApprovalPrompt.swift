internal import Glibc
internal import Lifecycle
internal import SessionClient
internal import Synchronization
internal import Wire

/// Asks the person at the terminal whether data may go to outside parties, one question after the other, while the answer
/// goes on arriving. What has been answered elsewhere, or is of a request that is over, is not asked any more.
final class ApprovalPrompt: Sendable {
    /// Whether a person can be asked.
    static var isPossible: Bool { isTerminal(0) && isTerminal(2) }

    private struct State {
        var isOver = false
        /// Parties that are not to be asked about any more.
        var settled: Set<String> = []
        var last: Task<Void, Never>?
    }
    private let state = Mutex(State())
    private let client: GatewayClient
    private let session: String
    private let request: String
    private let screen: Screen

    init(client: GatewayClient, session: String, request: String, screen: Screen) {
        self.client = client
        self.session = session
        self.request = request
        self.screen = screen
    }

    /// Takes an event of the request.
    func saw(_ event: SessionEvent) {
        let party = event.data["party"]?.string ?? ""
        switch event.type {
        case SessionEvent.Kind.disclosure: state.withLock { _ = $0.settled.insert(party) }
        case SessionEvent.Kind.approval:
            let question = event.data["question"]?.string ?? "May data go to \(party)?"
            state.withLock { state in
                state.settled.remove(party)
                state.last = Task { [before = state.last] in
                    await before?.value
                    await ask(question, party)
                }
            }
        default: if event.isTerminal { end() }
        }
    }

    /// Nothing is asked any more.
    func end() { state.withLock { $0.isOver = true } }

    private func isSettled(_ party: String) -> Bool {
        state.withLock { $0.isOver || $0.settled.contains(party) }
    }

    private func ask(_ question: String, _ party: String) async {
        guard !isSettled(party) else { return }
        screen.hold("\(question) [a]llow, al[w]ays in this session, [d]eny: ")
        defer { screen.letGo() }
        let choice = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            startThread(named: "approval") { [self] in continuation.resume(returning: answer(party)) }
        }
        guard let choice else { return }
        do throws(ClientError) {
            try await client.approve(choice, party: party, request: request, in: session)
        } catch {
            if !isSettled(party) { screen.say("the answer did not arrive: \(error)") }
        }
    }

    /// Reads lines until one is an answer; nil when none is wanted any more.
    private func answer(_ party: String) -> String? {
        var line: [UInt8] = []
        while !isSettled(party) {
            var polled = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            guard poll(&polled, 1, 100) > 0 else { continue }
            var byte: UInt8 = 0
            let count = read(0, &byte, 1)
            if count < 0, errno == EINTR { continue }
            // Whoever closes the terminal allows nothing.
            guard count == 1 else { return "deny" }
            guard byte == 10 else {
                line.append(byte)
                continue
            }
            if let choice = ApprovalPrompt.choice(String(decoding: line, as: UTF8.self)) { return choice }
            line = []
            printError("[a]llow, al[w]ays or [d]eny: ", terminator: "")
        }
        return nil
    }

    /// What a person's words mean; nil when they mean nothing.
    static func choice(_ words: String) -> String? {
        switch words.lowercased().filter({ !$0.isWhitespace }) {
        case "a", "allow", "y", "yes", "是", "允许": "allow"
        case "w", "always", "总是": "always"
        case "d", "deny", "n", "no", "否", "拒绝": "deny"
        default: nil
        }
    }
}
