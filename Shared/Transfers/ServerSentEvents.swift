/// One event of a text/event-stream.
public struct ServerSentEvent: Equatable, Sendable {
    /// The `event:` field; `message` when there is none.
    public var type: String
    /// The `data:` lines, joined by line feeds.
    public var data: [UInt8]
    /// The last `id:` seen up to this event; nil if there was none in the stream.
    public var id: String?

    /// Makes an event.
    public init(type: String = "message", data: [UInt8], id: String? = nil) {
        self.type = type
        self.data = data
        self.id = id
    }
}

/// Parses a text/event-stream as the HTML standard says, section 9.2.6, from pieces cut anywhere.
///
/// Bytes are only decoded once a line is whole, so that a character that is split over two pieces is not harmed.
public struct ServerSentEventParser: Sendable {
    /// A stream has more than this in one event: it is none of ours.
    public struct TooLong: Error, Equatable {
        /// What it may have at most.
        public var limit: Int

        /// Makes one.
        public init(limit: Int) { self.limit = limit }
    }

    /// The last `id:` seen: what a new connection sends as `Last-Event-ID`.
    public private(set) var lastEventID: String?
    /// The last `retry:` seen, in milliseconds.
    public private(set) var retry: Int?

    private let limit: Int
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var type = ""
    private var skipsLineFeed = false
    private var isAtStart = true

    /// Makes one for a new stream.
    /// - Parameter limit: most bytes of one event.
    public init(limit: Int = 64 << 20) { self.limit = limit }

    /// Takes the next piece of the stream and returns the events that it completes.
    public mutating func feed(_ bytes: [UInt8]) throws(TooLong) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        var position = 0
        while position < bytes.count {
            if skipsLineFeed {
                skipsLineFeed = false
                if bytes[position] == 10 {
                    position += 1
                    continue
                }
            }
            let end = bytes[position...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
            line.append(contentsOf: bytes[position..<end])
            guard line.count + data.count <= limit else { throw TooLong(limit: limit) }
            guard end < bytes.count else { break }
            skipsLineFeed = bytes[end] == 13
            if let event = endLine() { events.append(event) }
            position = end + 1
        }
        return events
    }

    /// Takes the end of the stream. The standard drops what no empty line has ended; who knows how to tell whether it is
    /// whole may take it all the same.
    /// - Returns: what had come of an event that was not ended.
    public mutating func end() -> ServerSentEvent? {
        if !line.isEmpty, let event = endLine() { return event }
        return dispatch()
    }

    private mutating func endLine() -> ServerSentEvent? {
        if isAtStart {
            isAtStart = false
            if line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        }
        defer { line.removeAll(keepingCapacity: true) }
        if line.isEmpty { return dispatch() }
        let colon = line.firstIndex(of: 58)
        if colon == 0 { return nil }
        let name = String(decoding: line[..<(colon ?? line.count)], as: UTF8.self)
        var value = line[(colon.map { $0 + 1 } ?? line.count)...]
        if value.first == 32 { value.removeFirst() }
        switch name {
        case "data":
            if hasData { data.append(10) }
            data.append(contentsOf: value)
            hasData = true
        case "event": type = String(decoding: value, as: UTF8.self)
        case "id": if !value.contains(0) { lastEventID = String(decoding: value, as: UTF8.self) }
        case "retry":
            if !value.isEmpty, value.allSatisfy({ 48...57 ~= $0 }) {
                retry = Int(String(decoding: value, as: UTF8.self)) ?? retry
            }
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            data = []
            hasData = false
            type = ""
        }
        guard hasData else { return nil }
        return ServerSentEvent(type: type.isEmpty ? "message" : type, data: data, id: lastEventID)
    }
}
