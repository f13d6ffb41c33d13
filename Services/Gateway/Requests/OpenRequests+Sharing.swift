internal import SessionStore
internal import Synchronization
internal import Telemetry
internal import Wire

/// What other gateways on the same store have to do with the requests here.
extension OpenRequests {
    /// Whether a request is this gateway's.
    func has(_ request: Identifier) -> Bool { state.withLock { $0.open[request] != nil } }

    /// Whether what the store says of a request is said of what is here: with another epoch it is another gateway's.
    func isCurrent(_ record: OpenRequestRecord) -> Bool {
        state.withLock { state in state.open[record.id].map { $0.epoch == record.epoch } ?? true }
    }

    /// All requests of this gateway.
    var all: [Identifier] { state.withLock { Array($0.open.keys) } }

    /// Requests that may wait for those of other gateways.
    var blocked: [Identifier] {
        state.withLock { state in state.open.filter { $0.value.waits && $0.value.waitsForOthers }.map(\.key) }
    }

    /// Nothing earlier of their sessions is open any more, here or elsewhere.
    func unblocked(_ requests: [Identifier], now: UInt64) {
        let actions = state.withLock { state in
            requests.flatMap { request -> [Action] in
                guard state.open[request]?.waits ?? false else { return [] }
                state.open[request]?.waits = false
                state.open[request]?.waitsForOthers = false
                state.open[request]?.unroutedSince = now
                return dispatchable(request, in: &state)
            }
        }
        perform(actions)
    }

    /// Another gateway goes on with a request: here nothing more happens to it, and nothing is said about it to anybody.
    /// What runs is fenced by the generation under which the other one submits it.
    ///
    /// The epoch is the one that is over; nil for whatever it is.
    func superseded(_ request: Identifier, epoch: Int64? = nil) {
        let actions = state.withLock { state -> [Action] in
            guard let open = state.open[request], epoch == nil || open.epoch == epoch else { return [] }
            let waiters = takeCancelWaiters(of: request, in: &state)
            state.bytes -= open.pendingBytes + open.storingBytes
            state.open[request] = nil
            state.sessions[open.session]?.removeAll { $0 == request }
            if state.sessions[open.session]?.isEmpty ?? false { state.sessions[open.session] = nil }
            state.remember(superseded: request)
            return [.tell(waiters, false)]
        }
        guard !actions.isEmpty else { return }
        log.info("another gateway goes on with a request", ["request": "\(request)"])
        perform(actions)
    }

    /// An end has come for a request that is not this gateway's. If it is over, its worker is to stop saying so; if it is
    /// another's, that one is told by the worker in time.
    func acknowledgeIfOver(_ execution: Execution) {
        Task { [weak self, store] in
            do throws(StoreError) {
                _ = try await store.openRequest(execution.job.request)
            } catch .notFound {
                self?.link.withLock { $0.router }?.acknowledge([execution])
            } catch {
                // It comes again.
            }
        }
    }
}
