internal import SessionStore
internal import Wire

extension OpenRequests {
    /// One request.
    struct Open {
        let session: Identifier
        let composer: EventComposer
        var progress: RequestProgress
        var number: Int64
        /// The epoch under which it is written, where several gateways share the store.
        var epoch: Int64 = 1
        var waits: Bool
        /// Whether what it waits for may be another gateway's: only the store knows when that is over.
        var waitsForOthers = false
        let endsOnDisconnect: Bool
        /// When it is over at the latest, in milliseconds of the steady clock.
        var deadline: UInt64
        /// Since when no router has it.
        var unroutedSince: UInt64
        var cancelEnds: UInt64?
        /// The instance of the router that has it, as far as is known here.
        var router: Identifier?
        /// The instance that the store has for it, and the one that it is to have. It is only sent to one that is on disk:
        /// whoever goes on with it after a crash must know who may have it.
        var storedRouter: Identifier?
        var notedRouter: Identifier?
        var isDispatching = false
        /// The generation that is on disk; one is only used after that.
        var storedGeneration: UInt32
        var isCancelStored = false

        /// Messages that wait unread until the store has what came before them.
        var parked: [ParkedReports] = []
        var parkedBytes = 0
        var pending: [Occurrence] = []
        /// Bytes of what is pending, and of what is on its way to the store.
        var pendingBytes = 0
        var storingBytes = 0
        /// Who waits for a cancel to be on disk, and until when, in milliseconds of the steady clock.
        var cancelWaiters: [CancelWaiter] = []
        var acknowledgements: [Execution] = []
        var isStoring = false
        /// What it had come to could not be stored, and the last try is to store that.
        var isGivenUp = false

        /// Bytes that are not stored yet.
        var waitingBytes: Int { pendingBytes + storingBytes + parkedBytes }

        /// Whether what a router says of it counts: it is that router's, or no other's.
        func isOf(_ other: Identifier?) -> Bool { other == nil || router == nil || router == other }
    }

    /// Somebody who has asked for a cancel.
    struct CancelWaiter {
        let until: UInt64
        /// Told whether it is on disk.
        let done: @Sendable (Bool) -> Void
    }

    /// All of them.
    struct State {
        var open: [Identifier: Open] = [:]
        /// Of each session, in the order of acceptance.
        var sessions: [Identifier: [Identifier]] = [:]
        var routers = KnownRouters()
        /// Requests that were told to end and may run on somewhere.
        var cancelled: Set<Identifier> = []
        /// Requests that another gateway has taken over: what is still said of them here is not for us to acknowledge.
        var superseded: Set<Identifier> = []
        /// Bytes of all that is not stored yet.
        var bytes = 0
        /// Messages that were not taken because too much was waiting for the store.
        var refusedReports = 0

        /// Notes a request that is another gateway's now, up to a number.
        mutating func remember(superseded request: Identifier) {
            if superseded.count >= 8192 { superseded = [] }
            superseded.insert(request)
        }

        /// Notes a request that may run on somewhere, up to a number: forgetting one costs a worker's time only.
        mutating func remember(cancelled request: Identifier) {
            if cancelled.count >= 1024 { cancelled = [] }
            cancelled.insert(request)
        }
    }

    /// What is to be done once the lock is released.
    enum Action {
        case store(EventBatch, acknowledgements: [Execution], generation: UInt32)
        case acknowledge([Execution])
        case cancel(Identifier, UInt32)
        case deny(Execution)
        case dispatch(Identifier)
        case tell([CancelWaiter], Bool)
        case lookUp(Execution)
        case approve(RequestProgress.Answer)
        case lookUpApprovals(Identifier)
    }
}
