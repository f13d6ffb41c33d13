internal import CMicroHTTPD
internal import Synchronization

/// The library's thread: headers and body come in.
extension HTTPExchange {
    /// What the library calls again and again: with the headers, with each piece of the body, at the end of the body,
    /// and after each resumption.
    func advance(
        _ handle: OpaquePointer,
        method: UnsafePointer<CChar>,
        needsHost: Bool,
        piece: UnsafeRawBufferPointer
    ) -> MHD_Result {
        guard state.withLock({ $0.hasHeaders }) else {
            return headersArrived(handle, method: String(cString: method), needsHost: needsHost)
        }
        if !piece.isEmpty { return pieceArrived(piece) }
        if state.withLock({ $0.isRefused }) { return .NO }
        if state.withLock({ $0.hasStarted }) { return answer(handle) }
        return bodyArrived()
    }

    private func headersArrived(_ handle: OpaquePointer, method: String, needsHost: Bool) -> MHD_Result {
        let headers = RequestHeaders(handle)
        state.withLock {
            $0.hasHeaders = true
            $0.method = method
            $0.headers = headers.fields
            $0.bodyStart = HTTPConnection.now()
        }
        let problem = connection.refusal ?? headers.problem(target: target, needsHost: needsHost, limits: core.limits)
        if let problem = problem ?? reserve(headers) {
            // A client that is still sending its body would lose the answer when the connection closes on it, and
            // only one that waits for "100 Continue" is not sending.
            if headers.announcesBody && !headers.expectsContinue { return refuse(problem) }
            return send(problem.response, over: handle, isLast: true)
        }
        if headers.announcesBody {
            core.watch.enter(.body, connection, within: core.limits.bodyTime)
            // All at once: what grows is there twice while it is moved. The system gives the memory as it is filled.
            state.withLock { $0.body.reserveCapacity($0.reserved) }
        } else {
            core.watch.enter(.handling, connection, within: nil)
        }
        return .YES
    }

    /// Takes the part of the memory for bodies that this one announces. Why it is refused if there is none left.
    private func reserve(_ headers: RequestHeaders) -> HTTPProblem? {
        guard headers.announcesBody else { return nil }
        let announced = headers.contentLength ?? 0
        let isLarge = headers.contentLength == nil || announced > core.limits.largeBody
        state.withLock { state in
            state.isLarge = isLarge
            state.reserved = announced
        }
        return core.reserve(announced, large: isLarge) ? nil : overloaded(large: isLarge)
    }

    private func overloaded(large isLarge: Bool) -> HTTPProblem {
        HTTPProblem(
            503,
            "overloaded",
            "The bodies being received have \(isLarge ? core.limits.bodies : core.limits.smallBodies) bytes together;"
                + " that is the limit.",
            hint: "Try again in a moment.",
            headers: ["Retry-After": "2"]
        )
    }

    /// Answers in the middle of the body, then reads on without keeping anything until the client has seen the answer.
    private func refuse(_ problem: HTTPProblem) -> MHD_Result {
        let (reserved, isLarge) = state.withLock { state in
            state.isRefused = true
            state.body = []
            defer { state.reserved = 0 }
            return (state.reserved, state.isLarge)
        }
        core.release(reserved, large: isLarge)
        HTTPConnection.sendRefusal(problem, to: connection.descriptor)
        core.watch.enter(.lingering, connection, within: .seconds(3))
        return .YES
    }

    private func pieceArrived(_ piece: UnsafeRawBufferPointer) -> MHD_Result {
        enum Outcome { case dropped, kept(deadline: UInt64, more: Int, isLarge: Bool), tooLarge }
        let limits = core.limits
        let outcome = state.withLock { state -> Outcome in
            if state.isRefused { return .dropped }
            guard state.received + piece.count <= limits.body else { return .tooLarge }
            state.body.append(contentsOf: piece)
            state.received += piece.count
            // A second more for each 64 KiB: a large upload may take its time, a dripping one may not.
            let extra = UInt64(state.received) * 1_000_000_000 / 65_536
            // Of a length that was announced all is reserved already.
            let more = max(0, state.received - state.reserved)
            state.reserved += more
            let deadline = state.bodyStart + limits.bodyTime.nanoseconds + extra
            return .kept(deadline: deadline, more: more, isLarge: state.isLarge)
        }
        switch outcome {
        case .dropped: return .YES
        case .tooLarge: return refuse(RequestHeaders.tooLarge(limit: limits.body, announced: nil))
        case .kept(let deadline, let more, let isLarge):
            connection.enter(.body, deadline: deadline)
            return more == 0 || core.reserve(more, large: isLarge) ? .YES : refuse(overloaded(large: isLarge))
        }
    }

    private func bodyArrived() -> MHD_Result {
        core.watch.enter(.handling, connection, within: nil)
        return state.withLock { state in
            if state.hasEnded || core.isAborting { return .NO }
            state.hasStarted = true
            let method = state.method
            let headers = state.headers
            let body = HTTPBody(state.body)
            state.body = []
            state.suspendConnection()
            state.task = Task { [self] in await work(method: method, headers: headers, body: body) }
            return .YES
        }
    }
}
