internal import FoundationEssentials
internal import HTTPServer
internal import Lifecycle
internal import Wire

/// Reading a body that must be JSON.
enum JSONRequest {
    /// Bodies above this are read on a thread of their own: it takes so long that a task would hold up the others.
    private static let large = 1024 * 1024
    /// Two at a time: more would only share the same processors, and the memory.
    private static let largeBodies = WorkThreads(named: "http json", limit: 2)

    /// Reads a body.
    /// - Throws: 415 for another media type, 400 naming what is wrong.
    static func decode<Value: Decodable & Sendable>(
        _ type: Value.Type,
        from request: HTTPRequest
    ) async throws(HTTPProblem) -> Value {
        try await read(request) { bytes throws(HTTPProblem) in
            try validate(bytes)
            return try value(type, from: bytes)
        }
    }

    /// Gives a JSON body to a closure, on a thread of its own where that may take long. The body is the closure's.
    /// - Throws: 415 for another media type, and what the closure throws.
    static func read<Value: Sendable>(
        _ request: HTTPRequest,
        _ parse: @escaping @Sendable (consuming [UInt8]) throws(HTTPProblem) -> Value
    ) async throws(HTTPProblem) -> Value {
        guard request.mediaType == "application/json" else {
            let got = request.mediaType.map { "not \($0.prefix(80))" } ?? "and nothing says that it is"
            throw HTTPProblem(
                415,
                "unsupported_media_type",
                "The body must be application/json, \(got).",
                hint: "Send the header \"Content-Type: application/json\".",
                headers: ["Accept-Post": "application/json"]
            )
        }
        let body = request.body
        guard body.count > large else { return try parse(body.take()) }
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, HTTPProblem>, Never>) in
            largeBodies.run {
                do throws(HTTPProblem) {
                    continuation.resume(returning: .success(try parse(body.take())))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Reads bytes.
    /// - Throws: 400 naming what is wrong.
    static func value<Value: Decodable>(
        _ type: Value.Type,
        from bytes: [UInt8]
    ) throws(HTTPProblem) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            if let reason = JSONBody.unfitNumber(error, type, bytes) {
                throw HTTPProblem(400, "invalid", "The body cannot be used: \(reason).")
            }
            guard case .dataCorrupted(let context) = error, context.codingPath.isEmpty else {
                throw HTTPProblem(400, "invalid", "The body cannot be used: \(JSONBody.reason(error)).")
            }
            throw HTTPProblem(400, "bad_json", "The body is not valid JSON\(place(context)).")
        } catch {
            throw HTTPProblem(400, "invalid", "The body cannot be used: \(JSONBody.reason(error)).")
        }
    }

    /// Refuses what is not UTF-8.
    static func validate(_ bytes: [UInt8]) throws(HTTPProblem) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw HTTPProblem(
                400,
                "invalid_utf8",
                "The body is not UTF-8: byte \(error.byteOffsets.lowerBound) is wrong.",
                hint: "Encode the request as UTF-8."
            )
        }
    }

    /// Where the decoder says that the fault is, if it does.
    private static func place(_ context: DecodingError.Context) -> String {
        guard let error = context.underlyingError else { return "" }
        let text = "\(error)"
        guard let start = text.firstRange(of: "around line ") else { return "" }
        let line = text[start.upperBound...].prefix { $0.isNumber }
        return line.isEmpty ? "" : " (line \(line))"
    }
}
