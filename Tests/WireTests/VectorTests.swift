import FoundationEssentials
import TestSupport
import Testing
import Wire

/// The golden messages of docs/protocol/vectors, which peers in other languages check too.
struct VectorTests {
    static func vectors(_ file: String) throws -> JSONValue {
        let data = try Data(contentsOf: URL(filePath: "\(projectFolder)/docs/protocol/vectors/\(file)"))
        return try JSONBody.decode(JSONValue.self, from: data)
    }

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }

    static func frame(_ value: JSONValue) throws -> [UInt8] {
        if let hex = value.string { return bytes(hex) }
        let prefix = try #require(value["hex_prefix"]?.string)
        let body = try #require(value["repeat"]?.array)
        let count = Int(try #require(body[1].integer))
        let byte = bytes(try #require(body[0].string))
        // The prefix reaches into the repeated part.
        let head = bytes(prefix)
        let start = head.firstIndex { $0 == byte[0] && head.suffix(3).allSatisfy { $0 == byte[0] } } ?? head.count
        let fixed = head.prefix(start)
        return Array(fixed) + Array(repeating: byte[0], count: count)
    }

    @Test func everyMessageReadsAndWritesAsItsVectorSays() throws {
        let messages = try #require(try Self.vectors("messages.json")["messages"]?.array)
        #expect(messages.count >= 8)
        for message in messages {
            let name = try #require(message["name"]?.string)
            let frames = try #require(message["frames"]?.array).map(Self.frame)
            let first = frames[0]
            let header = try Header(reading: first.span.bytes)
            let expected = try #require(message["header"])
            #expect(Int64(header.type.rawValue) == expected["type"]?.integer, "\(name)")
            #expect(Int64(header.flags.rawValue) == expected["flags"]?.integer, "\(name)")
            #expect(header.job.description == expected["job"]?.string, "\(name)")
            #expect(Int64(header.generation) == expected["generation"]?.integer, "\(name)")
            #expect(Int64(header.attempt) == expected["attempt"]?.integer, "\(name)")
            if let sequence = expected["sequence"]?.integer { #expect(header.sequence == UInt64(sequence), "\(name)") }
            if let value = expected["value"]?.integer { #expect(header.value == UInt64(value), "\(name)") }
            #expect(header.bytes == Array(frames[0].prefix(Header.size)), "\(name)")
            let body = header.flags.contains(.bodyFrame) ? frames[1] : Array(frames[0].dropFirst(Header.size))
            try check(message, body, name)
        }
    }

    private func check(_ message: JSONValue, _ body: [UInt8], _ name: String) throws {
        if let skill = message["skill"]?.string {
            let (read, input) = try JobBody.decode(body)
            #expect(read == skill, "\(name)")
            #expect(input.session == message["session"]?.string, "\(name)")
            if let text = message["text"]?.string { #expect(input.text == text, "\(name)") }
            if let count = message["text_repeat"]?.array?[1].integer { #expect(input.text.utf8.count == Int(count)) }
            #expect(input.material == message["material"]?.string, "\(name)")
            #expect(input.arguments?["points"] == message["points"], "\(name)")
            #expect(input.history?.first?.text == message["history"]?.string, "\(name)")
            #expect(input.summary == message["summary"]?.string, "\(name)")
            #expect(input.previous?.first?.output.text == message["previous"]?.string, "\(name)")
            #expect(input.idempotencyKey == message["idempotencyKey"]?.string, "\(name)")
            #expect(input.depth.map(Int64.init) == message["depth"]?.integer, "\(name)")
            #expect(input.explain == message["explain"]?.bool, "\(name)")
            #expect(input.privacy?.rawValue == message["privacy"]?.string, "\(name)")
            #expect(input.approved == message["approved"]?.array?.compactMap(\.string), "\(name)")
            #expect(input.cache == message["cache"]?.bool, "\(name)")
            #expect(input.canClarify == message["canClarify"]?.bool, "\(name)")
            #expect(input.routing?.rawValue == message["routing"]?.string, "\(name)")
            // Written and read again it is the same; JSON inside may be spaced differently.
            #expect(try JobBody.decode(try JobBody.encode(skill: skill, input: input)).input == input, "\(name)")
        }
        if let party = message["party"]?.string {
            #expect(String(decoding: body, as: UTF8.self) == party, "\(name)")
        }
        if let candidates = message["candidates"]?.array {
            let question = try JSONBody.decode(Clarification.self, from: body)
            #expect(question.candidates.map(\.skill) == candidates.compactMap { $0["skill"]?.string }, "\(name)")
            #expect(question.candidates.map(\.displayName) == candidates.compactMap { $0["displayName"]?.string })
            #expect(question.candidates.map(\.score) == candidates.compactMap { $0["score"]?.number }, "\(name)")
            // Who does not know the question reads an error, with the same words.
            #expect(try JSONBody.decode(JobError.self, from: body) == question.error, "\(name)")
            #expect(question == Clarification(between: question.candidates), "\(name)")
        }
        if let records = message["records"]?.array {
            var cursor = EventRecordCursor()
            var writer = EventRecordWriter()
            var read: [JSONValue] = []
            while let record = try cursor.next(in: body.span.bytes) {
                let text = String(decoding: body[record.payload], as: UTF8.self)
                read.append([.integer(Int64(record.kind.rawValue)), .string(text)])
                writer.append(record.kind, Array(body[record.payload]))
            }
            #expect(read == records, "\(name)")
            #expect(writer.bytes == body, "\(name)")
        }
        if let executions = message["executions"]?.array {
            var read: [Execution] = []
            try ExecutionList.forEach(body.span.bytes) { read.append($0) }
            #expect(read.map(\.job.description) == executions.compactMap { $0["job"]?.string }, "\(name)")
            #expect(read.map { Int64($0.attempt) } == executions.compactMap { $0["attempt"]?.integer }, "\(name)")
            var written: [UInt8] = []
            for execution in read { ExecutionList.append(execution, to: &written) }
            #expect(written == body, "\(name)")
        }
        if let messages = message["messages"]?.array {
            var cursor = BatchCursor()
            var writer = BatchWriter()
            var read: [[UInt8]] = []
            while let part = try cursor.next(in: body.span.bytes) {
                read.append(Array(body[part]))
                writer.append(body.span.bytes.extracting(part))
            }
            #expect(try read == messages.map(Self.frame), "\(name)")
            let written = writer.take { Array($0.dropFirst(Header.size)) }
            #expect(written == body, "\(name)")
        }
        if let running = message["running"]?.array {
            var progress: [Int64] = []
            try ExecutionList.forEachWithProgress(body.span.bytes) { progress.append(Int64($1)) }
            #expect(progress == running.compactMap { $0["progress"]?.integer }, "\(name)")
        }
    }

    @Test func everyRejectedFrameIsRejectedForItsReason() throws {
        for vector in try #require(try Self.vectors("rejected.json")["frames"]?.array) {
            let frame = Self.bytes(try #require(vector["frame"]?.string))
            let expected = try #require(vector["error"]?.string)
            let error = #expect(throws: WireError.self) { try Header(reading: frame.span.bytes) }
            let kind =
                switch error {
                case .truncated: "truncated"
                case .notSkillbus: "notSkillbus"
                case .version: "version"
                case .unknownType(_, let mayIgnore): mayIgnore ? "ignorable" : "unknownType"
                default: "\(String(describing: error))"
                }
            #expect(kind == expected)
        }
    }
}
