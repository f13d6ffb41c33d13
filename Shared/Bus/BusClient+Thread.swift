internal import Glibc
internal import Synchronization
internal import Wire

/// The thread that owns the sockets, and the one that can take over from it.
extension BusClient {
    /// Is the bus thread until the client is closed, or until another thread has become it.
    func serve(
        _ given: consuming BusLoop,
        _ user: any BusClientUser,
        _ work: (any BusWork)?
    ) throws(BusError) {
        var own: BusLoop? = consume given
        while var loop = own.take() {
            var step = Step.turn
            while case .turn = step { step = try turn(&loop, user, work) }
            guard case .work(let work) = step else {
                _ = consume loop
                return ended()
            }
            own = consume loop
            let mustWake = baton.withLock { $0.put(own.take(), now: Monotonic.milliseconds) }
            if mustWake { watch.signal() }
            work.perform()
            own = baton.withLock { $0.take() }
            guard own != nil else { break }
            // What it brought is sent before anything else is looked at, and what has come meanwhile is read then.
            let hasMore = work.performed()
            let next = user.turn(now: Monotonic.milliseconds)
            own?.next = hasMore ? 0 : next
            own?.hasWorked = true
        }
        if let work { second(user, work) }
    }

    /// Watches over the work of the bus thread, and becomes the bus thread when that takes long.
    func second(_ user: any BusClientUser, _ work: any BusWork) {
        let isOver = baton.withLock { baton in
            baton.hasSecond = true
            return baton.isOver
        }
        if isOver { return }
        while true {
            watch.wait()
            watching: while true {
                usleep(2500)
                switch baton.withLock({ $0.watch(now: Monotonic.milliseconds) }) {
                case .over: return
                case .again: continue watching
                case .rest: break watching
                case .takeOver(var loop):
                    work.overran(now: Monotonic.milliseconds)
                    loop.next = 0
                    do throws(BusError) {
                        return try serve(loop, user, work)
                    } catch {
                        user.failed(error)
                        return ended()
                    }
                }
            }
        }
    }

    /// The sockets are closed.
    func ended() {
        baton.withLock { $0.isOver = true }
        watch.signal()
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.endWaiters = [] }
            return state.endWaiters
        }
        waiters.forEach { $0.resume() }
    }

    private enum Step { case turn, closed, work(any BusWork) }

    private func turn(
        _ loop: inout BusLoop,
        _ user: any BusClientUser,
        _ work: (any BusWork)?
    ) throws(BusError) -> Step {
        try keepConnections(&loop, user)
        let isBlocked = try sendWaiting(&loop)
        var mustLookSoon = isBlocked
        if loop.hasWorked {
            loop.hasWorked = false
        } else if let work {
            let mayPerform = loop.isConnected && !isBlocked && baton.withLock { $0.hasSecond }
            switch work.next(now: Monotonic.milliseconds, mayPerform: mayPerform) {
            case .perform: return .work(work)
            case .waitShortly: mustLookSoon = true
            case .wait: break
            }
        }
        // Between emptying the queues and falling asleep nothing may be missed, so both are one step under the lock.
        let (mayWait, isClosed) = state.withLock { state in
            let hasMore = state.queues.contains { $0.isConnected && !$0.isEmpty }
            state.isAsleep = !hasMore && !state.isClosed && !state.isPoked
            return (state.isAsleep, state.isClosed && (!hasMore || isBlocked))
        }
        if isClosed { return .closed }
        let now = Monotonic.milliseconds
        let next = loop.beginsAnew.map { min($0, loop.next ?? .max) } ?? loop.next
        let limit = next.map { Int($0 > now ? min($0 - now, 60_000) : 0) }
        // A pipe that is full empties at the pace of its reader: not asked again and again, but soon.
        let soon = isBlocked ? 5 : 1
        try loop.poller.wait(milliseconds: mustLookSoon ? min(limit ?? soon, soon) : mayWait ? limit : 0)
        try read(&loop, user)
        loop.next = user.turn(now: Monotonic.milliseconds)
        return .turn
    }

    private func read(_ loop: inout BusLoop, _ user: any BusClientUser) throws(BusError) {
        state.withLock {
            $0.isAsleep = false
            $0.isPoked = false
        }
        if loop.poller.isReadable(0) { wakeUp.clear() }
        for (index, connection) in loop.connections.enumerated() {
            let place = BusLoop.place(index)
            if loop.poller.isReadable(place + 1) {
                let wasConnected = connection.isConnected
                try readMonitor(connection, user)
                if wasConnected { loop.hasLost = loop.hasLost || !connection.isConnected }
                // The next router says for itself.
                connection.takesBatches = false
            }
            if loop.poller.isReadable(place) { try receive(connection, user) }
        }
    }

    /// Sends what waits. True when a pipe is full.
    private func sendWaiting(_ loop: inout BusLoop) throws(BusError) -> Bool {
        var isBlocked = false
        for connection in loop.connections where connection.isConnected {
            if try sendWaiting(connection, &loop) { isBlocked = true }
        }
        return isBlocked
    }

    private func sendWaiting(_ connection: Connection, _ loop: inout BusLoop) throws(BusError) -> Bool {
        // What did not fit goes first, and alone until all of it has gone: a pipe that is full costs one try.
        if !connection.unsent.isEmpty {
            let place = try send(connection.unsent, from: connection.firstUnsent, over: connection, &loop.batch)
            guard place == nil else {
                connection.firstUnsent = place ?? 0
                return true
            }
            hold([], from: 0, on: connection)
        }
        state.withLock { state in
            guard let index = state.index(of: connection.link), !state.queues[index].waiting.isEmpty else { return }
            swap(&loop.sending, &state.queues[index].waiting)
            state.queues[index].bytes = 0
        }
        guard !loop.sending.isEmpty else { return false }
        defer { loop.sending.removeAll(keepingCapacity: loop.sending.capacity <= 4096) }
        guard let place = try send(loop.sending, from: 0, over: connection, &loop.batch) else { return false }
        // The pipe is full or just went: keep the order, try again later.
        hold(loop.sending, from: place, on: connection)
        return true
    }

    /// Keeps what a pipe did not take, and counts it as waiting.
    private func hold(_ messages: [Outgoing], from place: Int, on connection: Connection) {
        connection.unsent = messages
        connection.firstUnsent = place
        let bytes = messages[place...].reduce(0) { $0 + $1.count }
        state.withLock { state in
            guard let index = state.index(of: connection.link) else { return }
            state.queues[index].unsentBytes = bytes
        }
    }

    /// Sends messages, small ones together where the router takes that.
    /// - Returns: The place of the first message that could not be sent; nil when there is none.
    private func send(
        _ messages: [Outgoing],
        from start: Int,
        over connection: Connection,
        _ batch: inout BatchWriter
    ) throws(BusError) -> Int? {
        let mayBatch = connection.takesBatches && messages.count > start + 1
        var firstOfBatch = start
        for index in start..<messages.count {
            let isSmall = mayBatch && messages[index].isSmall
            if batch.count > 0, !isSmall || !batch.hasRoom(for: messages[index].count) {
                if try batch.send(on: connection.socket, to: nil) != .sent { return firstOfBatch }
            }
            if isSmall {
                if batch.count == 0 { firstOfBatch = index }
                messages[index].append(to: &batch)
            } else if try messages[index].send(on: connection.socket, to: nil) != .sent {
                return index
            }
        }
        guard batch.count > 0 else { return nil }
        return try batch.send(on: connection.socket, to: nil) != .sent ? firstOfBatch : nil
    }
}
