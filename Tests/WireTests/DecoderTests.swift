import Testing
import Wire

/// Nothing that comes in may crash a decoder: every cut, and bytes at random.
struct DecoderTests {
    let body: [UInt8]

    init() throws {
        let input = JobInput(
            session: "s",
            text: "text 文字",
            material: "m",
            arguments: ["a": [1, 2.5, true, nil]],
            attachments: [.init(name: "f", mediaType: "text/plain", bytes: 1)],
            history: [.init(role: "user", text: "t", skills: ["x"])],
            previous: [.init(step: "s1", skill: "k", output: SkillOutput(text: "o"))],
            idempotencyKey: "k",
            depth: 2,
            explain: false,
            plan: .single("k")
        )
        body = try JobBody.encode(skill: "echo", input: input)
    }

    @Test func jobBodyCutAnywhereIsReadOrRefused() throws {
        var refused = 0
        for count in 0..<body.count {
            do { _ = try JobBody.decode(Array(body.prefix(count))) } catch { refused += 1 }
        }
        // Cuts between two fields read as fewer fields; every other one is refused.
        #expect(refused >= body.count - 13)
        #expect(try JobBody.decode(body).input.history?.first?.skills == ["x"])
    }

    @Test func anyBytesAreReadOrRefused() {
        var generator = Xorshift(state: 42)
        for _ in 0..<20_000 {
            var bytes = body
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            _ = try? JobBody.decode(bytes)
            var cursor = EventRecordCursor()
            while let record = try? cursor.next(in: bytes.span.bytes) {
                #expect(record.payload.upperBound <= bytes.count)
            }
            var batch = BatchCursor()
            while let part = try? batch.next(in: bytes.span.bytes) { #expect(part.upperBound <= bytes.count) }
            _ = try? Header(reading: bytes.span.bytes)
            try? ExecutionList.forEach(bytes.span.bytes) { _ in }
            try? ExecutionList.forEachWithProgress(bytes.span.bytes) { _, _ in }
        }
    }

    @Test func aBatchCutAnywhereEndsWithAnError() throws {
        var writer = BatchWriter()
        writer.append(Header(.heartbeat), ([1, 2, 3] as [UInt8]).span.bytes)
        writer.append(Header(.drain), [UInt8]().span.bytes)
        let batch = writer.take { Array($0) }
        let header = try Header(reading: batch.span.bytes)
        #expect(header == Header(.batch, value: 2))
        let body = Array(batch.dropFirst(Header.size))
        let ends = [0, 4 + Header.size + 3, body.count]
        for count in 0...body.count {
            let (read, error) = countMessages(Array(body.prefix(count)))
            #expect(read == ends.count { $0 <= count } - 1, "\(count)")
            if ends.contains(count) {
                #expect(error == nil)
            } else if case .truncated(_, let got) = error {
                #expect(got == count)
            } else {
                Issue.record("\(count): \(String(describing: error))")
            }
        }
    }

    private func countMessages(_ body: [UInt8]) -> (Int, WireError?) {
        var cursor = BatchCursor()
        var count = 0
        while true {
            do throws(WireError) {
                guard try cursor.next(in: body.span.bytes) != nil else { return (count, nil) }
                count += 1
            } catch {
                return (count, error)
            }
        }
    }

    @Test func aBatchHoldsWhatAFrameMayHoldAndOneMessageIsItself() {
        var writer = BatchWriter()
        let message = [UInt8](repeating: 7, count: Limits.inlineBody - Batch.prefix)
        let rooms = (writer.hasRoom(for: message.count), writer.hasRoom(for: message.count + 1))
        #expect(rooms == (true, false))
        writer.append(message.span.bytes)
        let isFull = !writer.hasRoom(for: 0)
        #expect(isFull)
        let taken = writer.take { Array($0) }
        #expect(taken == message)
        let after = (writer.count, writer.hasRoom(for: message.count))
        #expect(after == (0, true))
    }

    @Test(arguments: ["x", "é", "文", "🙂"]) func longTextIsSeveralRecordsOfWholeCharacters(_ character: String) throws {
        for lead in 0..<4 {
            let text =
                String(repeating: "-", count: lead)
                + String(repeating: character, count: (2 * Limits.event + 100) / character.utf8.count)
            var writer = EventRecordWriter()
            writer.append(.delta, text: text)
            // Nothing is added to one that is full.
            for _ in 0..<3 { writer.appendMerging(.delta, text: String(repeating: character, count: 60_000)) }
            var cursor = EventRecordCursor()
            var joined = ""
            var count: UInt64 = 0
            while let record = try cursor.next(in: writer.bytes.span.bytes) {
                #expect(record.payload.count <= Limits.event)
                joined += try #require(String(validating: writer.bytes[record.payload], as: UTF8.self))
                count += 1
            }
            #expect(joined == text + String(repeating: character, count: 180_000))
            #expect(count == writer.count && count >= 3)
        }
        var writer = EventRecordWriter()
        writer.append(.delta, text: String(repeating: "x", count: Limits.event))
        #expect(writer.count == 1)
    }

    @Test func unknownFieldsAreSkipped() throws {
        let extra = body + [200, 3, 0, 0, 0, 1, 2, 3]
        #expect(try JobBody.decode(extra).input == JobBody.decode(body).input)
    }

    @Test func textThatIsNotUTF8IsNamed() throws {
        let bytes: [UInt8] = [1, 0x65, 2, 2, 0, 0, 0, 0xff, 0xfe]
        #expect(throws: WireError.notUTF8(what: "text")) { try JobBody.decode(bytes) }
        #expect(throws: WireError.notUTF8(what: "skill id")) { try JobBody.decode([1, 0xff]) }
    }

    @Test func mergedDeltasAreOneRecordWithAllText() throws {
        var writer = EventRecordWriter()
        for piece in ["a", "你", "", "🙂"] { writer.appendMerging(.delta, text: piece) }
        writer.append(.thinking, text: "t")
        writer.appendMerging(.delta, text: "b")
        #expect(writer.count == 3)
        var cursor = EventRecordCursor()
        var texts: [String] = []
        while let record = try cursor.next(in: writer.bytes.span.bytes) {
            texts.append(String(decoding: writer.bytes[record.payload], as: UTF8.self))
        }
        #expect(texts == ["a你🙂", "t", "b"])
    }

    @Test func aRecordThatRunsOverTheEndIsRefused() {
        var cursor = EventRecordCursor()
        let bytes: [UInt8] = [9, 0, 0, 0, 4, 0, 0, 0, 1]
        #expect(throws: WireError.truncated(needed: 17, got: 9)) { try cursor.next(in: bytes.span.bytes) }
        var other = EventRecordCursor()
        let unknown: [UInt8] = [0, 0, 0, 0, 99, 0, 0, 0]
        #expect(throws: WireError.unknownEventKind(99)) { try other.next(in: unknown.span.bytes) }
    }

    @Test func finishedWithoutPartsIsWrittenAsTheGeneralEncoderWould() throws {
        for text in ["", "plain", "quote \" back \\ slash / tab \t line \n\r bell \u{7} esc \u{1b} 你好 🙂 \u{7f}"] {
            let finished = JobFinished(output: SkillOutput(text: text), engine: "off\"line", milliseconds: 12)
            let read = try JSONBody.decode(JobFinished.self, from: try finished.encoded())
            #expect(read == finished)
        }
    }
}

/// Repeatable randomness.
struct Xorshift: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
