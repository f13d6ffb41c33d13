internal import Bus
internal import Synchronization
internal import Wire

/// One attempt at a job inside this process: what it has to say, and whether it may still say it.
///
///     running --(output or error)--> ended --(acknowledged)--> forgotten
///        |  \--(cancel, deadline)--> stopping --> ended
///        +------(fenced)-----------> fenced: nothing is said any more
///
/// Records wait here, not in the bus's queue, so that a slow or absent router costs one growing text per job and no
/// more: adjacent deltas become one, and what may be dropped is healed by the terminal record, which has everything.
final class WorkerExecution: Sendable {
    /// Bytes of events that may wait for a router that is away.
    private static let outboxLimit = 8 * 1024 * 1024
    /// How long a small delta may wait for the next one.
    private static let coalescingTime: UInt64 = 25
    /// How long the news that the job has started may wait: a job that ends within that time is one message.
    static let startingTime: UInt64 = 2
    /// A delta of this size is not worth waiting for another.
    private static let coalescingSize = 1024

    let execution: Execution
    let skill: HostedSkill
    let startTime: UInt64
    let deadline: UInt64

    /// Whether the bus thread has been told that there is something to send: once for each, however much comes after.
    private enum Pending: Int, Comparable {
        case none, later, now
        static func < (one: Pending, other: Pending) -> Bool { one.rawValue < other.rawValue }
    }

    private struct State {
        var outbox = EventRecordWriter()
        /// Whether nothing in the outbox is urgent.
        var outboxMayWait = true
        var hasTerminal = false
        var terminalFlags: Header.Flags = []
        var nextSequence: UInt64 = 1
        var lastFlush: UInt64 = 0
        var terminal: Outgoing?
        var progress: UInt64 = 0
        var isFenced = false
        var flush = Pending.none
        var streamedText = false
        /// What does the work, where the execution says so itself.
        var engine: String?
        /// Whether its output is to be no answer to the same input later.
        var isProvisional = false
        var stopReason: JobError?
        var stopLimit: UInt64
        var openCalls = 0
        var task: TaskHandle?
        var hasReturned = false
        var holdsSlot = true
        var route: Route
    }

    /// Where its reports go.
    struct Route: Equatable {
        /// The instance of the router that it belongs to.
        var router: Identifier
        /// The link over which that was reached last.
        var link: BusLink
        /// Whether that router is away: nothing is sent until it is back, or another has taken the execution over.
        var isOrphan = false
    }
    private let state: Mutex<State>

    init(
        execution: Execution,
        skill: HostedSkill,
        startTime: UInt64,
        deadline: UInt64,
        route: Route = Route(router: .none, link: .first)
    ) {
        self.execution = execution
        self.skill = skill
        self.startTime = startTime
        self.deadline = deadline
        state = Mutex(State(stopLimit: deadline + WorkerRuntime.stopGrace, route: route))
        let first = startTime + WorkerExecution.startingTime
        state.withLock { $0.lastFlush = first - min(first, WorkerExecution.coalescingTime) }
    }

    /// Takes a record. True if the bus thread must be told that there is something to send.
    func record(_ kind: EventKind, _ payload: [UInt8], isRetryable: Bool = false) -> Bool {
        state.withLock { state in
            guard canRecord(&state) else { return false }
            makeRoom(&state)
            state.outbox.append(kind, payload)
            if kind != .started { state.outboxMayWait = false }
            if kind == .retrying { state.streamedText = false }
            state.hasTerminal = kind.isTerminal
            if kind.isTerminal { state.terminalFlags = [.terminal] }
            if kind == .failed { state.terminalFlags.formUnion(isRetryable ? [.failed, .retryable] : [.failed]) }
            return mark(&state)
        }
    }

    /// Takes text. True if the bus thread must be told.
    func record(_ kind: EventKind, text: String) -> Bool {
        state.withLock { state in
            guard canRecord(&state) else { return false }
            makeRoom(&state)
            state.outbox.appendMerging(kind, text: text)
            if kind == .delta {
                state.streamedText = true
            } else {
                state.outboxMayWait = false
            }
            return mark(&state)
        }
    }

    private func canRecord(_ state: inout State) -> Bool { !state.isFenced && !state.hasTerminal }

    private func makeRoom(_ state: inout State) {
        guard state.outbox.bytes.count > WorkerExecution.outboxLimit else { return }
        state.nextSequence += state.outbox.count
        state.outbox = EventRecordWriter()
    }

    private func mark(_ state: inout State) -> Bool {
        state.progress += 1
        let needed: Pending = state.hasTerminal || !state.outboxMayWait ? .now : .later
        guard state.flush < needed else { return false }
        state.flush = needed
        return true
    }

    /// Takes the end of a job that went well, before it the whole text if none of it was streamed. True if the bus
    /// thread must be told.
    func recordEnd(text: String?, _ payload: [UInt8]) -> Bool {
        state.withLock { state in
            guard canRecord(&state) else { return false }
            makeRoom(&state)
            if let text {
                state.outbox.append(.delta, text: text)
                state.progress += 1
            }
            state.outbox.append(.finished, payload)
            state.outboxMayWait = false
            state.hasTerminal = true
            state.terminalFlags = [.terminal]
            return mark(&state)
        }
    }

    /// What came of looking whether there is something to send.
    enum Flush {
        case nothing
        case message(Outgoing, freesSlot: Bool)
        case later(UInt64)
    }

    /// The message to send now, if it is time, with ``givesSlotBack()`` in the same step; else when it will be. Of one whose
    /// router is away nothing: whoever gives it another asks again.
    func flush(now: UInt64) -> Flush {
        state.withLock { state in
            if state.route.isOrphan { return .nothing }
            guard state.outbox.count > 0, !state.isFenced else {
                state.flush = .none
                return .nothing
            }
            let isSmall = state.outbox.bytes.count < WorkerExecution.coalescingSize
            let due = state.lastFlush + WorkerExecution.coalescingTime
            if state.outboxMayWait, isSmall, now < due {
                state.flush = .later
                return .later(due)
            }
            var header = Header(
                .event,
                job: execution.job,
                generation: execution.generation,
                attempt: execution.attempt,
                sequence: state.nextSequence,
                value: state.outbox.count
            )
            header.flags.formUnion(state.terminalFlags)
            let message = Outgoing(header, body: state.outbox.bytes)
            state.nextSequence += state.outbox.count
            if state.hasTerminal {
                var again = message
                // What it says of slots has been said, by this message or by a registration since.
                again.header.flags.formUnion([.resent, .slotMoves])
                state.terminal = again
            }
            state.outbox = EventRecordWriter()
            state.outboxMayWait = true
            state.flush = .none
            state.lastFlush = now
            return .message(message, freesSlot: givesSlotBack(&state))
        }
    }

    /// What is left to know when the skill's function has returned.
    struct Return {
        /// Whether it was asked to stop.
        let wasStopped: Bool
        /// Whether text has been streamed, so that the whole of it need not be sent at the end.
        let hasStreamedText: Bool
        /// Whether its task was not cancelled and will not be.
        let leavesTaskIntact: Bool
        /// What did the work, where the execution has said so itself.
        let engine: String?
        /// Whether the output is no answer to the same input later.
        let isProvisional: Bool
    }

    /// The skill's function has returned. Before its terminal record is made.
    func returned() -> Return {
        state.withLock { state in
            state.hasReturned = true
            state.task = nil
            return Return(
                wasStopped: state.stopReason != nil,
                hasStreamedText: state.streamedText,
                leavesTaskIntact: state.stopReason == nil && !state.isFenced,
                engine: state.engine,
                isProvisional: state.isProvisional
            )
        }
    }

    /// Takes what does the work.
    func engine(_ name: String) { state.withLock { $0.engine = name } }

    /// Takes that its output is only what can be done now.
    func provisional() { state.withLock { $0.isProvisional = true } }

    /// Whether its slot becomes free now: when the function has returned and the router has been told, or will not be.
    /// True once. Credit and events then say the same, so that no job meets a worker without a free slot.
    func givesSlotBack() -> Bool { state.withLock { givesSlotBack(&$0) } }

    private func givesSlotBack(_ state: inout State) -> Bool {
        guard state.holdsSlot, state.hasReturned, state.terminal != nil || state.isFenced else { return false }
        state.holdsSlot = false
        return true
    }

    /// The terminal message once it has been sent, for sending again.
    var sentTerminal: Outgoing? { state.withLock { $0.terminal } }

    /// The terminal message if it was last sent by the given time. It counts as sent again now.
    func terminalSent(before time: UInt64, now: UInt64) -> Outgoing? {
        state.withLock { state in
            guard let terminal = state.terminal, state.lastFlush <= time else { return nil }
            state.lastFlush = now
            return terminal
        }
    }

    /// Where its reports go. Changed on the bus thread only.
    var route: Route {
        get { state.withLock { $0.route } }
        set { state.withLock { $0.route = newValue } }
    }

    /// Rises with every record.
    var progress: UInt64 { state.withLock { $0.progress } }

    /// Number of the last record that was handed to the bus.
    var lastSequence: UInt64 { state.withLock { $0.nextSequence - 1 } }

    /// Whether it has said its last.
    var hasEnded: Bool { state.withLock { $0.hasTerminal || $0.isFenced } }

    /// Why it was asked to stop, if it was.
    var stopReason: JobError? { state.withLock { $0.stopReason } }

    /// Notes a call of another skill. True for the first of those that are open.
    func callBegan() -> Bool {
        state.withLock { state in
            state.openCalls += 1
            return state.openCalls == 1
        }
    }

    /// Notes the end of a call. True for the last of those that are open.
    func callEnded() -> Bool {
        state.withLock { state in
            state.openCalls -= 1
            return state.openCalls == 0
        }
    }

    /// Says which task it runs in, until it has ``returned()``. False if it has been asked to stop before.
    func begin(in task: TaskHandle) -> Bool {
        state.withLock { state in
            state.task = task
            return state.stopReason == nil && !state.isFenced
        }
    }

    /// When its job is ended without it, if it has not stopped by then.
    var stopLimit: UInt64 { state.withLock { $0.stopLimit } }

    /// Asks the skill to stop. False if it has ended or was asked before.
    @discardableResult
    func stop(_ reason: JobError, now: UInt64) -> Bool {
        let task: TaskHandle?? = state.withLock { state in
            guard !state.hasTerminal, state.stopReason == nil else { return .none }
            state.stopReason = reason
            state.stopLimit = min(state.stopLimit, now + WorkerRuntime.stopGrace)
            return .some(state.task)
        }
        guard let task else { return false }
        task?.cancel()
        return true
    }

    /// Stops the skill and silences it.
    func fence() {
        let task = state.withLock { state in
            state.isFenced = true
            state.outbox = EventRecordWriter()
            state.terminal = nil
            return state.task
        }
        task?.cancel()
    }
}
