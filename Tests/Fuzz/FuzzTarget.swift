/// One decoder of what comes from outside, and what must hold for whatever it is given. `make fuzz` feeds each with
/// inputs that libFuzzer makes; the replay test feeds each with the corpus and with what was found.
enum FuzzTarget: String, CaseIterable, Sendable {
    /// A frame of the bus: header, then the body that its type calls for.
    case message
    /// The body of SUBMIT, DISPATCH and CALL.
    case job
    /// The body of EVENT, as the gateway reads it.
    case records
    /// A manifest, what the router makes of it, and a request routed by it.
    case manifest
    /// Arguments of a skill against its schema, in both directions.
    case arguments
    /// The body of a request over HTTP.
    case request
    /// An event stream, cut into pieces anywhere.
    case stream
    /// The data of events, and what a front end shows of them.
    case events
    /// A document: plain text, Markdown or HTML.
    case document

    /// What was wrong with a decoder: it did not refuse an input, but made nonsense of it.
    struct Failure: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }

    /// Gives the bytes to the decoder. A refusal is as good as a result.
    /// - Throws: `Failure` for a result that cannot be.
    func run(_ bytes: [UInt8]) throws {
        switch self {
        case .message: try fuzzMessage(bytes)
        case .job: try fuzzJob(bytes)
        case .records: try fuzzRecords(bytes)
        case .manifest: try fuzzManifest(bytes)
        case .arguments: try fuzzArguments(bytes)
        case .request: try fuzzRequest(bytes)
        case .stream: try fuzzStream(bytes)
        case .events: try fuzzEvents(bytes)
        case .document: try fuzzDocument(bytes)
        }
    }
}

/// Fails with a sentence unless the condition holds.
func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
    guard condition else { throw FuzzTarget.Failure(sentence()) }
}

/// The value, or nil if the bytes are refused.
func accepted<Value, Refusal: Error>(_ read: () throws(Refusal) -> Value) -> Value? {
    do { return try read() } catch { return nil }
}
