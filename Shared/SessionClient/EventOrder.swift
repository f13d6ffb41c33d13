internal import Wire

/// Which events of a stream are handed out. A value; it does no I/O.
///
/// (1) An event is handed out at most once.
/// (2) An event is handed out after the one before it, or after a `gap`.
struct EventOrder: Sendable {
    enum Placement: Equatable {
        /// Hand it out, after the gap if there is one.
        case deliver(after: SessionEvent?)
        /// It is known already.
        case drop
        /// Events before it are missing: ask for them.
        case askAgain(from: UInt64, to: UInt64)
    }

    /// The last event that was handed out: what to send as `Last-Event-ID`.
    private(set) var last: UInt64?
    /// After a gap the stream goes on wherever it does: a store that was restored may even count lower.
    private var followsGap = false
    private var lastGap: JSONValue?
    /// An event before which others were missing; if they are still when asked again, they are gone.
    private var hole: UInt64?

    init(after last: UInt64?) { self.last = last }

    mutating func place(_ event: SessionEvent) -> Placement {
        guard let seq = event.seq else {
            guard event.type == SessionEvent.Kind.gap else { return .deliver(after: nil) }
            // A connection that broke right after the gap gives it again.
            if followsGap && lastGap == event.data { return .drop }
            followsGap = true
            lastGap = event.data
            return .deliver(after: nil)
        }
        let expected = (last ?? 0) + 1
        if followsGap || seq == expected {
            followsGap = false
            last = seq
            hole = nil
            return .deliver(after: nil)
        }
        if seq < expected { return .drop }
        guard hole == seq else {
            hole = seq
            return .askAgain(from: expected, to: seq - 1)
        }
        last = seq
        hole = nil
        let gap = SessionEvent(
            seq: nil,
            time: event.time,
            session: event.session,
            request: nil,
            type: SessionEvent.Kind.gap,
            data: ["from": .integer(Int64(expected)), "to": .integer(Int64(seq - 1))]
        )
        return .deliver(after: gap)
    }
}
