internal import Wire

/// Reads the records of an EVENT message. What is wrong with one is repaired or replaced, never fatal: the sender may
/// be written in any language.
enum ReportReader {
    /// What was read of a message.
    struct Reading {
        var reports: [(report: Occurrence.Report, outcome: RequestProgress.Outcome?)] = []
        /// What was wrong with it.
        var problem: String?
        /// Whether that was all of it.
        var isComplete = false
    }

    /// The reports of a whole message, and what was wrong with it.
    static func read(
        _ body: RawSpan
    ) -> (reports: [(report: Occurrence.Report, outcome: RequestProgress.Outcome?)], problem: String?) {
        var cursor = EventRecordCursor()
        let reading = read(body, from: &cursor, upTo: .max)
        return (reading.reports, reading.problem)
    }

    /// Reads so many records at most, and goes on there the next time.
    static func read(_ body: RawSpan, from cursor: inout EventRecordCursor, upTo limit: Int) -> Reading {
        var reading = Reading()
        do {
            while reading.reports.count < limit {
                guard let (kind, range) = try cursor.next(in: body) else {
                    reading.isComplete = true
                    break
                }
                let payload = body.withUnsafeBytes { Array($0[range]) }
                do throws(WireError) {
                    reading.reports.append(try report(kind, payload))
                } catch {
                    reading.problem = "\(error)"
                    // A terminal record that cannot be read still ends the job: nothing will follow it.
                    if kind.isTerminal {
                        reading.reports.append(unreadable(error))
                    } else {
                        reading.reports.append((.thinking(""), nil))
                    }
                }
            }
        } catch {
            reading.problem = "\(error)"
            reading.isComplete = true
        }
        return reading
    }

    private static func report(
        _ kind: EventKind,
        _ payload: [UInt8]
    ) throws(WireError) -> (Occurrence.Report, RequestProgress.Outcome?) {
        switch kind {
        case .started: (.started(try JSONBody.decode(JobStarted.self, from: payload)), nil)
        // Decoding replaces what is no UTF-8.
        case .thinking: (.thinking(String(decoding: payload, as: UTF8.self)), nil)
        case .delta: (.delta(String(decoding: payload, as: UTF8.self)), nil)
        case .progress: (.progress(try JSONBody.decode(JobProgress.self, from: payload)), nil)
        case .partial:
            (.partial(try JSONBody.encode(try JSONBody.decode(SkillOutput.self, from: payload))), nil)
        case .retrying: (.retrying(try JSONBody.decode(JobRetrying.self, from: payload)), nil)
        case .finished: try finished(payload)
        case .failed: try failed(payload)
        case .approval: (.approval(try question(payload)), nil)
        case .disclosure: (.disclosure(try JSONBody.encode(try JSONBody.decode(JSONValue.self, from: payload))), nil)
        }
    }

    private static func question(_ payload: [UInt8]) throws(WireError) -> Disclosure {
        let disclosure = try JSONBody.decode(Disclosure.self, from: payload)
        guard disclosure.isValid else {
            throw .body(type: "Disclosure", reason: "\"party\" is no name of a party")
        }
        return disclosure
    }

    private static func finished(
        _ payload: [UInt8]
    ) throws(WireError) -> (Occurrence.Report, RequestProgress.Outcome?) {
        // It is stored and shown as it is: JSON in another encoding, which the decoder would read, is refused.
        guard !payload.contains(0), String(validating: payload, as: UTF8.self) != nil else {
            throw .notUTF8(what: "finished record")
        }
        let finished = try JSONBody.decode(JobFinished.self, from: payload)
        return (.finished(payload, cached: finished.cached), .finished(finished.output))
    }

    private static func failed(_ payload: [UInt8]) throws(WireError) -> (Occurrence.Report, RequestProgress.Outcome?) {
        let error = try JSONBody.decode(JobError.self, from: payload)
        return (.failed(error), .failed(error))
    }

    private static func unreadable(_ error: WireError) -> (Occurrence.Report, RequestProgress.Outcome?) {
        let failure = JobError(
            code: JobError.Code.badMessage,
            message: "The skill's last message could not be read: \(error).",
            hint: "Its worker may be of another version."
        )
        return (.failed(failure), .failed(failure))
    }
}
