internal import Wire

extension Supervisor {
    enum Role: Int, CaseIterable, Sendable {
        // In the order in which they drain: a worker's end needs the gateway's word that it is stored, by the router.
        case worker, gateway, router
    }

    /// A service as it is now.
    struct Service {
        let role: Role
        let name: String
        /// Which of its kind it is, from 0.
        var number = 0
        let path: String
        let log: ServiceLog
        var process: ServiceProcess?
        var ready: JSONValue?
        var wasEverReady = false
        var started = ContinuousClock.now
        var policy = RestartPolicy()
    }
}
