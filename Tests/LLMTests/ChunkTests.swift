import Foundation
import TestSupport
import Testing
import Wire

@testable import LLM
@testable import Transfers

/// The short way through a chunk and the long one.
@Suite struct ChunkTests {
    /// As servers send them: OpenAI, llama-server, vLLM, DeepSeek, and with escapes.
    private static let usual = [
        #"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764489600,"model":"gpt","system_fingerprint":"fp_1","#
            + #""choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}"#,
        #"{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"model":"m"}"#,
        #"{ "choices" : [ { "index" : 0 , "delta" : { } , "finish_reason" : "stop" } ] , "usage" : null }"#,
        #"{"choices":[{"delta":{"content":"a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00é😀","reasoning_content":null,"#
            + #""tool_calls":null}}]}"#,
        #"{"choices":[{"delta":{"content":""},"finish_reason":""}],"error":null,"stop":false,"created":0}"#,
    ]
    /// What only the long way knows, or nobody.
    private static let unusual = [
        "", "{", "null", "{}", #"{"choices":[]}"#, #"{"choices":[{}]}"#, #"{"choices":[{"delta":null}]}"#,
        #"{"choices":[{"delta":{"content":[{"type":"text","text":"x"}]}}]}"#,
        #"{"choices":[{"index":1,"delta":{"content":"x"}}]}"#, #"{"choices":[{"index":00,"delta":{"content":"x"}}]}"#,
        #"{"choices":[{"delta":{"content":"x"}},{"index":1,"delta":{"content":"y"}}]}"#,
        #"{"choices":[{"delta":{"content":"x","content":"y"}}]}"#, #"{"choices":[{"delta":{"con\u0074ent":"x"}}]}"#,
        #"{"choices":[{"delta":{"reasoning":"x"}}]}"#, #"{"choices":[{"delta":{"content":"\uD83D"}}]}"#,
        #"{"choices":[{"delta":{"content":"\uDE00"}}]}"#, #"{"choices":[{"delta":{"content":"\x"}}]}"#,
        #"{"choices":[{"delta":{"content":"x"}}]} x"#, #"{"choices":[{"delta":{"content":"x"}}],}"#,
        #"{"choices":[{"delta":{"content":"x"}}],"created":-}"#,
        #"{"choices":[{"delta":{"content":"x"}}],"timings":{}}"#,
        #"{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":1}}"#, #"{"error":{"message":"no"}}"#,
        #"{"choices":[{"delta":{"content":"x"},"message":{"content":"y"}}]}"#, #"{"message":"x","choices":null}"#,
        "{\"choices\":[{\"delta\":{\"content\":\"a\nb\"}}]}",
    ]

    /// What a body says, to compare.
    private func said(_ body: CompletionBody) -> [String?] {
        [
            body.piece?.text, body.piece?.thinking, body.piece?.refusal, body.piece.map { "\($0.calls.count)" },
            body.piece.map { "\($0.isReasoningContent)" }, body.finishReason, body.model, body.fault?.message,
            body.usage.map { "\($0.total)" }, "\(body.hasChoice)",
        ]
    }

    /// Whether the short way was enough; it must have said the same as the long one.
    private func isShort(_ bytes: [UInt8]) -> Bool {
        guard (try? UTF8Span(validating: bytes.span)) != nil, !bytes.contains(0),
            let short = ChunkScanner.read(bytes[...])
        else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let long = try? JSONBody.decode(CompletionBody.self, from: bytes) else {
            Issue.record("only the short way reads \(text)")
            return true
        }
        #expect(said(short) == said(long), "\(text)")
        return true
    }

    @Test func whatIsUsualIsReadTheShortWay() {
        for text in Self.usual { #expect(isShort(Array(text.utf8)), "\(text)") }
        let escaped = ChunkScanner.read(Array(Self.usual[3].utf8)[...])
        #expect(escaped?.piece?.text == "a\"\\/\u{8}\u{c}\n\r\té😀é😀")
    }

    @Test func whatIsNotIsLeftToTheLongWay() {
        for text in Self.unusual { #expect(!isShort(Array(text.utf8)), "\(text)") }
    }

    /// A slice that begins somewhere is no other text.
    @Test func aSliceIsReadFromItsStart() {
        let text = Array("data: \(Self.usual[0])".utf8)
        #expect(ChunkScanner.read(text[6...])?.piece?.text == " word")
    }

    @Test func whateverComesBothWaysSayTheSame() {
        var random = SplitMix(state: 20_261_201)
        let texts = (Self.usual + Self.unusual).map { Array($0.utf8) }
        let parts = [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e9", " ", "null", "true", "\\u00",
            "\\ud83d", "é", "\"content\":", "\"delta\":{", "\"index\":0", "\"finish_reason\":\"\"", "\"model\":\"m\"",
            "x", "\n",
        ].map { Array($0.utf8) }
        var short = 0
        for _ in 0..<20_000 {
            var bytes = texts[Int.random(in: 0..<Self.usual.count, using: &random)]
            if Int.random(in: 0..<8, using: &random) == 0 { bytes = texts.randomElement(using: &random) ?? bytes }
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                let end = min(bytes.count, place + Int.random(in: 0...3, using: &random))
                bytes.replaceSubrange(
                    place..<end,
                    with: Bool.random(using: &random) ? parts.randomElement(using: &random) ?? [] : []
                )
            }
            if isShort(bytes) { short += 1 }
        }
        // It is the short way that is tried here.
        #expect(short > 1000)
    }

    @Test func whatServersSendIsReadTheSameBothWays() throws {
        var short = 0
        var all = 0
        for transcript in TranscriptTests.all {
            let file = TranscriptTests.folder + "/" + transcript.file
            guard let bytes = FileManager.default.contents(atPath: file) else { continue }
            for line in Array(bytes).split(separator: 0x0A) where line.starts(with: Array("data: {".utf8)) {
                var data = Array(line.dropFirst(6))
                if data.last == 0x0D { data.removeLast() }
                all += 1
                if isShort(data) { short += 1 }
            }
        }
        #expect(all > 500 && short * 2 > all, "\(short) of \(all)")
    }
}

/// Random numbers that are the same in each run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// How much a thread rests.
@Suite struct WakePaceTests {
    /// Rests of wake-ups that come so many microseconds apart.
    private func rests(every interval: UInt64, events: Int = 1, bytes: Int = 200, count: Int = 400) -> [UInt64] {
        var pace = WakePace()
        return (0..<UInt64(count)).map { number in
            pace.bytes = bytes
            return pace.rest(after: events, at: 1_000_000 + number * interval)
        }
    }

    @Test func whatComesNowAndThenComesAtOnce() {
        // Two wake-ups for each of a hundred pieces a second.
        #expect(rests(every: 5000).allSatisfy { $0 == 0 })
        // A burst, such as requests that begin.
        #expect(rests(every: 100, count: 60).allSatisfy { $0 == 0 })
    }

    @Test func muchOfLittleComesTogether() {
        let many = rests(every: 500)
        #expect(many.prefix(60).allSatisfy { $0 == 0 } && many.suffix(100).allSatisfy { $0 == WakePace.rest })
    }

    @Test func whatIsLargeComesFast() {
        #expect(rests(every: 100, bytes: 16_384).allSatisfy { $0 == 0 })
        var pace = WakePace()
        let sending = (0..<1000).map { number in
            pace.hasSent = true
            return pace.rest(after: 1, at: UInt64(number) * 10)
        }
        #expect(sending.allSatisfy { $0 == 0 })
    }

    @Test func aSecondOfQuietIsEnough() {
        var pace = WakePace()
        for number in 0..<10_000 { _ = pace.rest(after: 8, at: UInt64(number) * 100) }
        #expect(pace.rest(after: 1, at: 1_000_000) == WakePace.rest)
        #expect(pace.rest(after: 1, at: 2_000_000) == 0)
    }
}
