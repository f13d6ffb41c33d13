internal import Bus
internal import Synchronization
internal import Telemetry
internal import Wire

/// Routers that come and go, and what becomes of the executions that are theirs.
extension WorkerRuntime {
    func connected(_ link: BusLink) {
        // What was called while nobody was there has been dropped with all that waited.
        failCalls(over: link)
        state.withLock { state in
            state.links[link] = Link()
            state.shares.join(link, free: freeSlots(state))
            register(link, &state, now: Monotonic.milliseconds)
        }
    }

    func disconnected(_ link: BusLink) {
        failCalls(over: link)
        let others = state.withLock { state -> Int in
            state.links[link] = nil
            state.shares.leave(link)
            orphan(link, &state)
            return state.links.count
        }
        log.info("router lost, reconnecting", ["link": "\(link)", "others": .number(others)])
    }

    func refused(_ link: BusLink) {
        log.warning("the router does not let this key in", ["hint": "it must be on the router's list, as a worker"])
    }

    /// What a call is answered may be lost with the connection: whoever waits decides what to do.
    private func failCalls(over link: BusLink) {
        let lost = state.withLock { state in
            let lost = state.calls.filter { $0.value.link == link }
            for number in lost.keys { state.calls[number] = nil }
            return lost.values.map(\.continuation)
        }
        let error = SkillError(JobError.Code.noRouter, "the router was lost during the call", retryable: true)
        lost.forEach { $0.resume(returning: .failure(error)) }
        loseQueries(at: link)
    }

    /// A link's executions run on, and are offered to the other routers at once.
    private func orphan(_ link: BusLink, _ state: inout State) {
        var list: [UInt8] = []
        for execution in state.executions.values where execution.route.link == link {
            execution.route.isOrphan = true
            ExecutionList.append(execution.execution, to: &list)
        }
        guard !list.isEmpty else { return }
        for (other, known) in state.links where known.isRegistered { claim(list, from: other) }
    }

    private func claim(_ list: [UInt8], from link: BusLink) {
        try? client.send(Outgoing(Header(.claim, flags: .mayIgnore), body: list), to: link)
    }

    func register(_ link: BusLink, _ state: inout State, now: UInt64) {
        state.links[link]?.registering = now
        var registration = registration
        for execution in state.executions.values {
            let route = execution.route
            guard route.isOrphan || route.link == link else { continue }
            registration.held.append(
                .init(
                    execution: execution.execution,
                    sequence: execution.lastSequence,
                    state: execution.hasEnded ? .unacknowledged : .running,
                    router: route.router == .none ? nil : route.router
                )
            )
        }
        let header = Header(
            .register,
            flags: [.takesBatches, .sharesSlots],
            sequence: state.links[link]?.dispatchSeen ?? 0,
            value: UInt64(state.shares.promised(to: link))
        )
        do { try client.send(Outgoing(header, json: registration), to: link) } catch {
            log.error("registration not sent", ["reason": "\(error)"])
        }
    }

    func welcome(_ body: [UInt8], from link: BusLink, now: UInt64) {
        guard let welcome = try? JSONBody.decode(Welcome.self, from: body) else { return }
        let isSecond = state.withLock { state -> Bool in
            if let first = state.links.first(where: { $0.key != link && $0.value.router == welcome.router })?.key {
                // One router at two addresses: it takes us to have moved to this link, and hears that we have not.
                state.links[link] = nil
                state.shares.leave(link)
                register(first, &state, now: now)
                return true
            }
            guard state.links[link] != nil else { return false }
            state.links[link]?.registering = nil
            state.links[link]?.router = welcome.router
            state.links[link]?.heartbeat = UInt64(max(welcome.heartbeat, 50))
            state.links[link]?.lastResend = 0
            attach(link, welcome, &state)
            return false
        }
        if isSecond {
            log.info("this router is connected already", ["router": "\(welcome.router)", "link": "\(link)"])
            return client.park(link)
        }
        log.info("registered", ["router": "\(welcome.router)"])
        onReady()
    }

    /// Its executions have their router again; those of another wait for one that takes them over.
    private func attach(_ link: BusLink, _ welcome: Welcome, _ state: inout State) {
        var orphans: [UInt8] = []
        for execution in state.executions.values {
            let route = execution.route
            // One that does not know how to take over says nothing about it either: it has been told what is here.
            let isOlderRouter = welcome.adopts != true && route.link == link
            if route.router == welcome.router || isOlderRouter {
                execution.route = .init(router: welcome.router, link: link)
                state.unsent.append(execution)
            } else if route.isOrphan || route.link == link {
                execution.route.isOrphan = true
                ExecutionList.append(execution.execution, to: &orphans)
            }
        }
        // Some may have lost their router after the registration was written.
        if welcome.adopts == true, !orphans.isEmpty { claim(orphans, from: link) }
    }

    /// A router goes on with an execution that was another's.
    func adopted(_ execution: Execution, by link: BusLink) {
        state.withLock { state in
            guard let router = state.links[link]?.router, let found = state.executions[execution.job],
                found.execution == execution
            else { return }
            found.route = .init(router: router, link: link)
            state.unsent.append(found)
            if let terminal = found.sentTerminal { try? client.send(terminal, to: link) }
        }
    }

    func problem(_ body: [UInt8], from link: BusLink, now: UInt64) {
        guard let error = try? JSONBody.decode(JobError.self, from: body) else { return }
        if error.code == "unregistered" {
            state.withLock { if $0.links[link] != nil { register(link, &$0, now: now) } }
        } else if error.retryable || !WorkerRuntime.finalRefusals.contains(error.code) {
            log.warning("router refuses for now", ["code": "\(error.code)", "reason": "\(error.message)"])
        } else {
            onEnd(.refused(error))
        }
    }
}
