internal import Bus
internal import SessionStore
internal import Telemetry
internal import Wire

/// The gateway as one of several on a store.
extension SessionService: StoreMember {
    /// The store, if other gateways have it too.
    var sharedStore: (any SharedSessionStore)? { store as? any SharedSessionStore }

    var followedSessions: [Identifier] { followers.sessions }
    var blockedRequests: [Identifier] { requests.blocked }
    var ownedRequests: [Identifier] { requests.all }

    func tookOver(_ taken: [TakenRequest]) {
        log.info("going on with requests of another gateway", ["count": .number(taken.count)])
        Task { [weak self] in
            for request in taken { await self?.goOn(with: request) }
        }
    }

    func lost(_ requests: [Identifier]) { requests.forEach { self.requests.superseded($0) } }

    func endRequested(_ requests: [(id: Identifier, reason: String?)]) {
        for (id, reason) in requests {
            self.requests.cancel(id, reason: reason ?? "the user cancelled it", now: Monotonic.milliseconds)
        }
    }

    func unblocked(_ requests: [Identifier]) { self.requests.unblocked(requests, now: Monotonic.milliseconds) }

    func changed(_ session: Identifier) { followers.wake(session) }

    /// Reads a request that is this gateway's now, until that works, and goes on with it.
    private func goOn(with taken: TakenRequest) async {
        while !isDraining {
            do throws(StoreError) {
                var record = try await store.openRequest(taken.id)
                // Its former owner may still be there and know nothing: what it had begun ends under a new generation.
                if !taken.isReleased { record.router = nil }
                // It may be here from before, under an epoch that is over.
                requests.superseded(taken.id)
                restore(record)
                ticks.continuation.yield()
                if record.enqueued { sharedStore?.lookAgain() }
                return
            } catch .notFound {
                return
            } catch {
                log.warning("a request cannot be read", ["request": "\(taken.id)", "reason": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
