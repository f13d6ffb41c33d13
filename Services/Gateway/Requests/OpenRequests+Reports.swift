internal import Synchronization
internal import Telemetry
internal import Wire

/// A message of which not all has been read yet: reading it at once, or storing it at once, would keep others waiting.
struct ParkedReports {
    let header: Header
    let body: [UInt8]
    var cursor: EventRecordCursor
    /// The number of the next report; 0 for what the router says.
    var next: UInt64
}

/// What jobs report. A request that says much at once is read and stored by pieces, between which others have their turn:
/// nothing of it is lost, and its followers see it as fast as the store takes it.
extension OpenRequests {
    /// Reports of one request that are read, and stored, at a time.
    static let slice = 1000

    /// EVENT. Of a router that does not have the request any more nothing is taken: another goes on with it.
    func received(_ header: Header, _ body: RawSpan, from router: Identifier? = nil, now: UInt64) {
        guard !park(header, body, EventRecordCursor(), next: header.sequence, onlyIfBusy: true, from: router) else {
            return
        }
        var cursor = EventRecordCursor()
        var reading = ReportReader.read(body, from: &cursor, upTo: OpenRequests.slice)
        tell(reading.problem, header)
        guard !reading.isComplete else { return reported(header, reading.reports, from: router, now: now) }
        // Before the first piece is stored, since the rest is taken up when that is.
        let next = header.sequence == 0 ? 0 : header.sequence &+ UInt64(reading.reports.count)
        if park(header, body, cursor, next: next, onlyIfBusy: false, from: router) {
            reported(header, reading.reports, from: router, now: now)
            perform(state.withLock { unpark(header.job.request, in: &$0, now: now) })
        } else {
            // Of a request that is over only the end matters, which is answered.
            let rest = ReportReader.read(body, from: &cursor, upTo: .max)
            tell(rest.problem, header)
            reading.reports += rest.reports
            reported(header, reading.reports, from: router, now: now)
        }
    }

    private func tell(_ problem: String?, _ header: Header) {
        guard let problem else { return }
        log.warning("an event cannot be read", ["job": "\(header.job)", "reason": .text(problem)])
    }

    /// Sets a message aside, if the request has more waiting already than is stored at once.
    /// - Returns: Whether nothing more is to be done with it.
    private func park(
        _ header: Header,
        _ body: RawSpan,
        _ cursor: EventRecordCursor,
        next: UInt64,
        onlyIfBusy: Bool,
        from router: Identifier?
    ) -> Bool {
        state.withLock { state in
            guard let open = state.open[header.job.request], open.isOf(router) else { return false }
            if onlyIfBusy, open.parked.isEmpty, open.pending.count < OpenRequests.slice { return false }
            guard hasRoom(for: body.byteCount, of: open, in: state) else {
                // Nothing is lost by it: a gap is healed by the job's end, and the end is sent again until it is
                // acknowledged.
                state.refusedReports += 1
                return true
            }
            let bytes = body.withUnsafeBytes { Array($0) }
            let parked = ParkedReports(header: header, body: bytes, cursor: cursor, next: next)
            state.open[header.job.request]?.parked.append(parked)
            state.open[header.job.request]?.parkedBytes += bytes.count
            state.bytes += bytes.count
            return true
        }
    }

    private func hasRoom(for bytes: Int, of open: Open, in state: State) -> Bool {
        guard open.waitingBytes > 0 else { return true }
        return open.waitingBytes + bytes <= patience.requestBytes && state.bytes + bytes <= patience.bytes
    }

    /// Takes up what was set aside, until something is on its way to the store again.
    func unpark(_ request: Identifier, in state: inout State, now: UInt64) -> [Action] {
        var actions: [Action] = []
        while let open = state.open[request], !open.isStoring, var message = open.parked.first {
            var cursor = message.cursor
            let reading = ReportReader.read(message.body.span.bytes, from: &cursor, upTo: OpenRequests.slice)
            message.cursor = cursor
            tell(reading.problem, message.header)
            let first = message.next
            if first != 0 { message.next &+= UInt64(reading.reports.count) }
            if reading.isComplete {
                state.open[request]?.parked.removeFirst()
                state.open[request]?.parkedBytes -= message.body.count
                state.bytes -= message.body.count
            } else {
                state.open[request]?.parked[0] = message
            }
            let execution = message.header.execution
            actions += apply(to: request, in: &state, now: now) { progress in
                progress.reported(execution, first: first, reading.reports)
            }
        }
        return actions
    }

    /// What has been read of an EVENT.
    func reported(
        _ header: Header,
        _ reports: [(report: Occurrence.Report, outcome: RequestProgress.Outcome?)],
        from router: Identifier? = nil,
        now: UInt64
    ) {
        let request = header.job.request
        let actions = state.withLock { state -> [Action] in
            if let open = state.open[request], !open.isOf(router) { return [] }
            guard state.open[request] != nil else {
                if state.superseded.contains(request) { return [] }
                if background.has(request) {
                    guard let outcome = reports.last?.outcome else { return [] }
                    background.end(request, outcome.result)
                    return [.acknowledge([header.execution])]
                }
                // Another gateway may have it: only the store knows whether it is over.
                if isShared { return reports.last?.report.isTerminal ?? false ? [.lookUp(header.execution)] : [] }
                // Over, and that is on disk: let go of it. What runs on after a cancel is told once more.
                if reports.last?.report.isTerminal ?? false { return [.acknowledge([header.execution])] }
                return state.cancelled.remove(request) == nil ? [] : [.cancel(request, header.generation)]
            }
            guard hasRoom(for: reports, of: request, in: state) else {
                // Nothing is lost by it: a gap is healed by the job's end, and the end is sent again until it is
                // acknowledged.
                state.refusedReports += 1
                return []
            }
            return apply(to: request, in: &state, now: now) { progress in
                progress.reported(header.execution, first: header.sequence, reports)
            }
        }
        perform(actions)
    }

    /// Whether a message may be kept until the store has what came before it. One always may.
    private func hasRoom(
        for reports: [(report: Occurrence.Report, outcome: RequestProgress.Outcome?)],
        of request: Identifier,
        in state: State
    ) -> Bool {
        guard let open = state.open[request], open.waitingBytes > 0 else { return true }
        let bytes = reports.reduce(0) { $0 + $1.report.bytes + Occurrence.overhead }
        return open.waitingBytes + bytes <= patience.requestBytes
            && state.bytes + bytes <= patience.bytes
    }
}
