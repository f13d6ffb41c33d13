/// A request that has arrived whole.
public struct HTTPRequest: Sendable {
    /// `GET`, `POST`, ...; `HEAD` arrives as itself.
    public var method: String
    /// The segments of the path, decoded: `["v1", "sessions"]`.
    public var segments: [String]
    /// The path as it came, without the query.
    public var path: String
    /// Names and values of the query, decoded, in their order.
    public var query: [(name: String, value: String)]
    /// Header fields.
    public var headers: HTTPHeaders
    /// The body; empty when there is none.
    public let body: HTTPBody
    /// The peer's address, without the port.
    public var peer: String
    /// What the route's pattern has named, such as `id` of `/v1/sessions/{id}`.
    public var parameters: [String: String] = [:]
    /// Who sends it, once the handler has found that out; empty, and so nobody, until then.
    public var user = ""

    /// Makes a request, as tests of handlers do.
    /// - Throws: ``HTTPProblem`` when the target cannot be decoded.
    public init(
        _ method: String,
        _ target: String,
        headers: HTTPHeaders = [:],
        body: HTTPBody = HTTPBody([]),
        peer: String = "127.0.0.1"
    ) throws(HTTPProblem) {
        let parsed = try RequestTarget(target)
        self.method = method
        segments = parsed.segments
        path = parsed.path
        query = parsed.query
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// The first value of a name of the query.
    public func query(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// The media type without parameters, in lower case.
    public var mediaType: String? {
        guard let value = headers["Content-Type"] else { return nil }
        let type = value.prefix { $0 != ";" }
        return type.drop { $0 == " " }.lowercased().split(separator: " ").first.map(String.init)
    }
}

/// The parts of a request target: `/v1/sessions/x?limit=3`, or the absolute form with scheme and host.
struct RequestTarget {
    let path: String
    let segments: [String]
    let query: [(name: String, value: String)]

    init(_ text: String) throws(HTTPProblem) {
        var bytes = Array(text.utf8)
        if bytes.first != UInt8(ascii: "/") && bytes != [UInt8(ascii: "*")] {
            // The absolute form, which a server must accept: http://host/path
            guard let start = RequestTarget.pathStart(bytes) else {
                throw HTTPProblem(400, "bad_target", "The request target \"\(text.prefix(80))\" is no path.")
            }
            bytes = Array(bytes[start...])
            if bytes.first != UInt8(ascii: "/") { bytes.insert(UInt8(ascii: "/"), at: 0) }
        }
        let question = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        path = String(decoding: bytes[..<question], as: UTF8.self)
        var segments: [String] = []
        for segment in bytes[..<question].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true) {
            segments.append(try RequestTarget.decode(segment, plusIsSpace: false))
        }
        self.segments = segments
        var query: [(name: String, value: String)] = []
        if question < bytes.count {
            for pair in bytes[(question + 1)...].split(separator: UInt8(ascii: "&")) {
                let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
                let value = equals < pair.endIndex ? pair[(equals + 1)...] : []
                let name = try RequestTarget.decode(pair[..<equals], plusIsSpace: true)
                query.append((name, try RequestTarget.decode(value, plusIsSpace: true)))
            }
        }
        self.query = query
    }

    /// Where the path of an absolute form begins; nil for anything else.
    private static func pathStart(_ bytes: [UInt8]) -> Int? {
        for scheme in ["http://", "https://"] where bytes.starts(with: scheme.utf8) {
            let authority = bytes[scheme.utf8.count...]
            return authority.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.count
        }
        return nil
    }

    private static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) throws(HTTPProblem) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal)
                else { throw HTTPProblem(400, "bad_target", "The request target has a \"%\" without two digits.") }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        guard let text = String(validating: decoded, as: UTF8.self), !decoded.contains(0) else {
            throw HTTPProblem(400, "bad_target", "The request target is not UTF-8 when decoded.")
        }
        return text
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }
}
