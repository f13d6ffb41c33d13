import Synchronization
import Telemetry
import Testing
import Wire

@Suite struct LogTests {
    @Test func aLineIsOneJSONObject() throws {
        let lines = Mutex<[String]>([])
        let log = Log(service: "x", level: .info) { line in lines.withLock { $0.append(line) } }
        log.info("two\nlines \"quoted\" \u{1b}[2J", ["number": 3, "flag": true, "text": "中\\"])
        log.debug("not written")
        let written = lines.withLock { $0 }
        #expect(written.count == 1 && written[0].hasSuffix("}\n") && written[0].filter { $0 == "\n" }.count == 1)
        let json = try JSONBody.decode(JSONValue.self, from: written[0].utf8)
        #expect(
            json["message"] == "two\nlines \"quoted\" \u{1b}[2J" && json["service"] == "x" && json["level"] == "info"
        )
        #expect(json["number"] == 3 && json["flag"] == true && json["text"] == "中\\")
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_796_025_600_123, "2026-11-30T08:00:00.123Z"),
        (4_107_542_399_000, "2100-02-28T23:59:59.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ])
    func timesAreRFC3339(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
    }
}
