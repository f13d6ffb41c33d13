internal import CMicroHTTPD

/// The headers of a request as the library gives them, and what is wrong with them.
///
/// What two parsers may read differently is refused, so that nothing can be smuggled past a proxy in front of us:
/// two lengths, a length beside a transfer coding, a coding other than `chunked`, control characters.
struct RequestHeaders {
    private(set) var fields = HTTPHeaders()
    private let size: Int

    init(_ connection: OpaquePointer) {
        size = cmicrohttpd_header_size(connection)
        var fields = HTTPHeaders()
        withUnsafeMutablePointer(to: &fields) { fields in
            _ = cmicrohttpd_headers(
                connection,
                { context, _, name, nameSize, value, valueSize in
                    guard let fields = context?.assumingMemoryBound(to: HTTPHeaders.self) else { return .YES }
                    fields.pointee.append(
                        RequestHeaders.text(name, nameSize),
                        RequestHeaders.text(value, valueSize)
                    )
                    return .YES
                },
                fields
            )
        }
        self.fields = fields
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
    }

    /// The announced length; nil when there is none, or no number.
    var contentLength: Int? { fields["Content-Length"].flatMap { Int($0) } }

    /// Whether a body follows.
    var announcesBody: Bool { fields["Transfer-Encoding"] != nil || (contentLength ?? 0) > 0 }

    /// Whether the client waits for "100 Continue" before it sends the body.
    var expectsContinue: Bool { fields["Expect"].map { equalIgnoringCase($0, "100-continue") } ?? false }

    /// Why a request with these headers is refused; nil if it is not.
    func problem(target: String, needsHost: Bool, limits: HTTPLimits) -> HTTPProblem? {
        if target.utf8.contains(32) {
            return HTTPProblem(400, "bad_target", "The request target has a space.")
        }
        if needsHost, fields["Host"] == nil {
            return HTTPProblem(400, "bad_header", "HTTP/1.1 requires the header Host.")
        }
        if target.utf8.count > limits.target {
            return HTTPProblem(
                414,
                "uri_too_long",
                "The request target has \(target.utf8.count) bytes; the limit is \(limits.target)."
            )
        }
        if size > limits.header || fields.fields.count > limits.headerFields {
            return HTTPProblem(
                431,
                "header_too_large",
                "The headers have \(size) bytes in \(fields.fields.count) fields; the limits are \(limits.header) bytes"
                    + " and \(limits.headerFields) fields."
            )
        }
        for field in fields.fields {
            guard isToken(field.name), !field.value.utf8.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) else {
                return HTTPProblem(400, "bad_header", "A header field has a character that is not allowed there.")
            }
        }
        return framingProblem ?? lengthProblem(limits)
    }

    private var framingProblem: HTTPProblem? {
        let lengths = fields.all("Content-Length")
        let codings = fields.all("Transfer-Encoding")
        if !codings.isEmpty && !lengths.isEmpty {
            return HTTPProblem(400, "bad_framing", "Content-Length and Transfer-Encoding cannot both be there.")
        }
        if lengths.count > 1 || codings.count > 1 || fields.all("Host").count > 1 {
            return HTTPProblem(400, "bad_framing", "Content-Length, Transfer-Encoding or Host is there twice.")
        }
        if let length = lengths.first, length.isEmpty || !length.utf8.allSatisfy({ 48...57 ~= $0 }) {
            return HTTPProblem(400, "bad_framing", "Content-Length is not a number.")
        }
        if let coding = codings.first, !equalIgnoringCase(coding, "chunked") {
            return HTTPProblem(
                501,
                "unknown_coding",
                "The transfer coding \"\(coding.prefix(40))\" is not known; \"chunked\" is."
            )
        }
        return nil
    }

    private func lengthProblem(_ limits: HTTPLimits) -> HTTPProblem? {
        guard fields["Content-Length"] != nil else { return nil }
        let length = contentLength ?? .max
        return length > limits.body ? RequestHeaders.tooLarge(limit: limits.body, announced: length) : nil
    }

    /// The answer to a body over the limit.
    static func tooLarge(limit: Int, announced: Int?) -> HTTPProblem {
        let got = announced.map { "has \($0) bytes" } ?? "is larger than allowed"
        return HTTPProblem(
            413,
            "too_large",
            "The body \(got); the limit is \(limit).",
            hint: "Send less, or split it into several requests."
        )
    }

    private func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
