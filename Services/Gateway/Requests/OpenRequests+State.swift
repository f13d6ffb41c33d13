internal import SessionStore
internal import Wire

extension OpenRequests {
    /// One request.
    struct Open {
        let session: Identifier
        let composer: EventComposer
        var progress: RequestProgress
        var number: Int64
        var waits: Bool
        let endsOnDisconnect: Bool
        /// When it is over at the latest, in milliseconds of the steady clock.
        var deadline: UInt64
        /// Since when no router has it.
        var unroutedSince: UInt64
        var cancelEnds: UInt64?
        /// The instance of the router that has it.
        var router: Identifier?
        var isDispatching = false
        /// The generation that is on disk; one is only used after that.
        var storedGeneration: UInt32

        var pending: [Occurrence] = []
        var acknowledgements: [Execution] = []
        var isStoring = false
        /// What it had come to could not be stored, and the last try is to store that.
        var isGivenUp = false
    }

    /// All of them.
    struct State {
        var open: [Identifier: Open] = [:]
        /// Of each session, in the order of acceptance.
        var sessions: [Identifier: [Identifier]] = [:]
        var router: Identifier?
        /// An instance that takes nothing new.
        var draining: Identifier?
        /// Requests that were told to end and may run on somewhere.
        var cancelled: Set<Identifier> = []

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
    }
}
