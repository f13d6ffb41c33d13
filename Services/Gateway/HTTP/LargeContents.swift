internal import Synchronization

/// Takes the large files out of the body of a request before it is read as JSON: 25 MB of base64 are decoded from where
/// they lie, instead of becoming a string of JSON, a string of Swift, and then bytes.
///
/// A value of the name `data` in an object of an array of the whole document is replaced by a short text that stands for
/// its place in ``contents``. What is not quite as usual, such as an escape in the text, stays where it is: it is read
/// the slow way, and refused there if it is wrong.
struct LargeContents {
    /// The document without its large contents.
    let json: [UInt8]
    /// Not to be guessed by whoever writes the document.
    private let mark: String
    private let contents: Contents

    /// Texts of this length and more are taken out.
    static let threshold = 16 * 1024

    /// Each content is given out once, and is then its taker's.
    private final class Contents: Sendable {
        let all: Mutex<[[UInt8]]>
        init(_ all: [[UInt8]]) { self.all = Mutex(all) }
    }

    init(of document: consuming [UInt8]) {
        var scanner = Scanner(document)
        scanner.run()
        contents = Contents(scanner.contents)
        mark = scanner.mark
        json = scanner.rest
    }

    /// The content that a text stands for; nil if it is a text of the document.
    func take(_ text: String) -> [UInt8]? {
        guard text.hasPrefix(mark), let place = Int(text.dropFirst(mark.count)) else { return nil }
        return contents.all.withLock { all in
            guard all.indices.contains(place) else { return nil }
            defer { all[place] = [] }
            return all[place]
        }
    }
}

extension LargeContents {
    /// Walks over the document once. It knows strings and nesting, and leaves the rest to the decoder.
    private struct Scanner {
        let document: [UInt8]
        let mark = "content-\(UInt64.random(in: 0 ... .max))-"
        var contents: [[UInt8]] = []
        private var cut: [UInt8] = []
        private var copied = 0
        /// What is open: `{` or `[`, down to the level that matters.
        private var open: [UInt8] = []
        private var key: Range<Int>?

        init(_ document: consuming [UInt8]) { self.document = document }

        var rest: [UInt8] { contents.isEmpty ? document : cut + document[copied...] }

        mutating func run() {
            guard document.count >= LargeContents.threshold else { return }
            var position = 0
            while position < document.count {
                let byte = document[position]
                position += 1
                switch byte {
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    // Deeper than this nothing is taken out, and the decoder has its own limit.
                    guard open.count < 64 else { return }
                    open.append(byte)
                    key = nil
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    _ = open.popLast()
                    key = nil
                case UInt8(ascii: ","): key = nil
                case UInt8(ascii: "\""):
                    guard let end = endOfString(from: position) else { return }
                    if key == nil {
                        key = position..<end
                    } else if end - position >= LargeContents.threshold, isContent,
                        let content = Base64Content.decode(document, position..<end)
                    {
                        cut += document[copied..<position]
                        cut += "\(mark)\(contents.count)".utf8
                        copied = end
                        contents.append(content)
                    }
                    position = end + 1
                default: break
                }
            }
        }

        private func endOfString(from start: Int) -> Int? {
            document.withUnsafeBufferPointer { bytes in
                var position = start
                while position < bytes.count {
                    switch bytes[position] {
                    case UInt8(ascii: "\""): return position
                    case UInt8(ascii: "\\"): position += 2
                    default: position += 1
                    }
                }
                return nil
            }
        }

        private var isContent: Bool {
            open == [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "{")]
                && key.map { document[$0].elementsEqual("data".utf8) } ?? false
        }
    }
}

/// Base64 (RFC 4648, section 4) with padding, read from the middle of a document.
enum Base64Content {
    /// The bytes that a part of a document stands for; nil if it is not base64.
    static func decode(_ document: [UInt8], _ range: Range<Int>) -> [UInt8]? {
        guard range.count % 4 == 0, !range.isEmpty else { return range.isEmpty ? [] : nil }
        let padding = document[range].suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let size = range.count / 4 * 3 - padding
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size + 3) { target, count in
            document.withUnsafeBufferPointer { source in
                values.withUnsafeBufferPointer { values in
                    var position = range.lowerBound
                    while position < range.upperBound {
                        var group: UInt32 = 0
                        var wrong: UInt8 = 0
                        for offset in 0..<4 {
                            let byte = source[position + offset]
                            // What pads is nothing, and only where padding may be.
                            let isPadding = byte == UInt8(ascii: "=") && position + offset >= range.upperBound - padding
                            let value = isPadding ? 0 : values[Int(byte)]
                            wrong |= value
                            group = group << 6 | UInt32(value & 63)
                        }
                        if wrong > 63 { isValid = false }
                        target[count] = UInt8(truncatingIfNeeded: group >> 16)
                        target[count + 1] = UInt8(truncatingIfNeeded: group >> 8)
                        target[count + 2] = UInt8(truncatingIfNeeded: group)
                        count += 3
                        position += 4
                    }
                }
            }
            count = size
        }
        return isValid ? bytes : nil
    }

    /// The value of each letter; 255 for what is none.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, letter) in letters.utf8.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()
}
