internal import Synchronization

/// Tokens that several calls share, such as those of a session or of a loop of calls.
public final class TokenBudget: Sendable {
    private let left: Mutex<Int>

    /// A budget of so many tokens.
    public init(_ tokens: Int) { left = Mutex(max(0, tokens)) }

    /// What is left.
    public var remaining: Int { left.withLock { $0 } }

    /// Takes what a call took; below 0 there is nothing.
    func charge(_ usage: Usage) { left.withLock { $0 = max(0, $0 - usage.total) } }
}

/// Tokens guessed by the length of a text: who sends no count still has one.
enum TokenEstimate {
    /// Four bytes of ASCII to a token, and one token to a character elsewhere: right within a third or so.
    static func tokens(in text: String) -> Int {
        var ascii = 0
        var others = 0
        for byte in text.utf8 {
            if byte < 0x80 { ascii += 1 } else if byte & 0xC0 != 0x80 { others += 1 }
        }
        return (ascii + 3) / 4 + others
    }
}
