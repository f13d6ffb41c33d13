import Testing

import Transfers

struct ServerSentEventParserTests {
    private func events(_ chunks: [[UInt8]]) throws -> (events: [ServerSentEvent], parser: ServerSentEventParser) {
        var parser = ServerSentEventParser()
        var events: [ServerSentEvent] = []
        for chunk in chunks { events += try parser.feed(chunk) }
        return (events, parser)
    }

    private func event(_ type: String, _ data: String, _ id: String? = nil) -> ServerSentEvent {
        ServerSentEvent(type: type, data: Array(data.utf8), id: id)
    }

    @Test(
        "A stream of the standard gives its events",
        arguments: [
            ("data: one\n\n", ["message|one|"]),
            ("data: one\r\n\r\ndata: two\r\n\r\n", ["message|one|", "message|two|"]),
            ("data: one\r\rdata: two\r\r", ["message|one|", "message|two|"]),
            (": comment\ndata:no space\n:\n\n", ["message|no space|"]),
            ("data:  two spaces\n\n", ["message| two spaces|"]),
            ("data: a\ndata:\ndata: b\n\n", ["message|a\n\nb|"]),
            ("event: job.delta\nid: 7\ndata: x\n\ndata: y\n\n", ["job.delta|x|7", "message|y|7"]),
            ("data\n\n", ["message||"]),
            ("event: nothing\n\ndata: x\n\n", ["message|x|"]),
            ("\u{feff}data: bom\n\n", ["message|bom|"]),
            ("id: 1\u{0}2\ndata: x\n\n", ["message|x|"]),
            ("unknown: field\nnoColon\ndata: x\n\n", ["message|x|"]),
            ("data: unfinished\n", []),
            ("id: 3\n\n", []),
        ]
    )
    func standard(_ text: String, _ expected: [String]) throws {
        let shown = try events([Array(text.utf8)]).events.map {
            "\($0.type)|\(String(decoding: $0.data, as: UTF8.self))|\($0.id ?? "")"
        }
        #expect(shown == expected)
    }

    @Test("A stream may be cut anywhere, also within a character, a line end or the byte order mark")
    func cutAnywhere() throws {
        let stream = Array(
            "\u{feff}: hello\r\nid: 1\r\nevent: job.delta\r\ndata: 你好 👩‍👩‍👧 é\r\ndata: zwei\r\n\r\nid:2\rdata:x\r\rretry: 50\n\n"
                .utf8
        )
        let expected = [event("job.delta", "你好 👩‍👩‍👧 é\nzwei", "1"), event("message", "x", "2")]
        for cut in 0...stream.count {
            let (events, parser) = try events([Array(stream[..<cut]), Array(stream[cut...])])
            #expect(events == expected)
            #expect(parser.retry == 50)
            #expect(parser.lastEventID == "2")
        }
        #expect(try events(stream.map { [$0] }).events == expected)
    }

    @Test("An id counts although its event has no data; a retry that is no number does not")
    func idAndRetry() throws {
        let (events, parser) = try events([Array("id: 9\n\nretry: soon\n\nretry: 250\nretry: -1\n\n".utf8)])
        #expect(events.isEmpty)
        #expect(parser.lastEventID == "9")
        #expect(parser.retry == 250)
    }

    @Test("An event without end is refused, not kept")
    func tooLong() throws {
        var parser = ServerSentEventParser(limit: 100)
        let line = [UInt8]("data: ".utf8) + [UInt8](repeating: 65, count: 60) + [10]
        _ = try parser.feed(line)
        #expect(throws: ServerSentEventParser.TooLong(limit: 100)) { _ = try parser.feed(line) }
    }
}
