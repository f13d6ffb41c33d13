internal import Glibc
internal import Lifecycle
internal import Wire

/// Standard output takes nothing more. Where its reader has gone, as with `| head`, the program ends without a word;
/// everything else, such as a full disk, is a failure.
struct OutputClosed: Error {
    /// An errno.
    let code: Int32

    /// What is to be said of it; nil for nothing.
    var words: String? {
        code == EPIPE ? nil : "cannot write to standard output: \(String(cString: strerror(code)))"
    }
}

/// Standard output.
enum Output {
    static let isTerminal = Lifecycle.isTerminal(1)
    static let style = Style(for: 1)

    /// Text of a skill: raw into a pipe or file, harmless onto a terminal.
    static func text(_ text: String) throws(OutputClosed) {
        try raw(isTerminal ? Terminal.safe(text) : text)
    }

    /// A line of our own making.
    static func line(_ line: String) throws(OutputClosed) {
        try raw(line + "\n")
    }

    /// Text as it is.
    static func raw(_ text: String) throws(OutputClosed) {
        let code = printOutput(text, terminator: "")
        guard code == 0 else { throw OutputClosed(code: code) }
    }

    /// A value as one line of JSON.
    static func json(_ value: some Encodable) throws {
        let bytes = try JSONBody.encode(value)
        try line(escaped(String(decoding: bytes, as: UTF8.self)))
    }

    /// JSON allows some characters as they are that a terminal might obey. Escaped it is the same JSON.
    static func escaped(_ json: String) -> String {
        func mustEscape(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= 127 && Terminal.isUnsafe(scalar) }
        guard json.unicodeScalars.contains(where: mustEscape) else { return json }
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            if mustEscape(scalar) {
                let digits = String(scalar.value, radix: 16)
                let zeros = String(repeating: "0", count: 4 - digits.count)
                result.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
