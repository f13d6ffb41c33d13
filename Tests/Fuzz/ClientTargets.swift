import Text
import Transfers
import Wire

@testable import SessionClient

func fuzzStream(_ bytes: [UInt8]) throws {
    guard let cut = bytes.first else { return }
    let stream = Array(bytes.dropFirst())
    let limit = 4096
    func events(inPiecesOf size: Int) -> (events: [ServerSentEvent], last: String?, retry: Int?, isTooLong: Bool) {
        var parser = ServerSentEventParser(limit: limit)
        var all: [ServerSentEvent] = []
        var position = 0
        while position < stream.count {
            let end = min(position + size, stream.count)
            guard
                let some = accepted({ () throws(ServerSentEventParser.TooLong) in
                    try parser.feed(Array(stream[position..<end]))
                })
            else { return (all, parser.lastEventID, parser.retry, true) }
            all += some
            position = end
        }
        return (all, parser.lastEventID, parser.retry, false)
    }
    let whole = events(inPiecesOf: max(stream.count, 1))
    let pieces = events(inPiecesOf: 1 + Int(cut) % 16)
    try expect(whole.isTooLong == pieces.isTooLong, "what is too long depends on how it is cut")
    if whole.isTooLong { return }
    try expect(whole.events == pieces.events, "the events depend on how the stream is cut")
    try expect(whole.last == pieces.last && whole.retry == pieces.retry, "id or retry depends on how it is cut")
    try expect(whole.events.allSatisfy { $0.data.count <= limit }, "an event is over the limit")
}

func fuzzEvents(_ bytes: [UInt8]) throws {
    var view = SessionView()
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
        guard let event = try? JSONBody.decode(SessionEvent.self, from: line) else { continue }
        view.apply(event)
        var again = view
        if event.type != SessionEvent.Kind.gap, event.seq != nil {
            again.apply(event)
            try expect(again == view, "an event that comes twice changes what is shown: \(event)")
        }
    }
}

func fuzzDocument(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    for block in DocumentReader().blocks(in: text) {
        try expect(!block.text.isEmpty, "an empty block")
    }
    let content = Array(text.utf8)
    var end = 0
    for range in SentenceSegmenter().ranges(in: content) {
        try expect(range.lowerBound >= end && range.upperBound <= content.count, "sentences overlap")
        end = range.upperBound
    }
    end = 0
    for range in Paragraphs.ranges(in: content) {
        try expect(range.lowerBound >= end && range.upperBound <= content.count, "paragraphs overlap")
        end = range.upperBound
    }
    end = 0
    for range in TextParts.ranges(in: content, atMost: 64) {
        try expect(range.lowerBound >= end && range.upperBound <= content.count, "parts overlap")
        end = range.upperBound
    }
    for word in WordSegmenter().words(in: text) {
        try expect(word.range.upperBound <= content.count, "a word runs over the end")
    }
    _ = Normalizer.fold(text)
    _ = Language.of(text)
}
