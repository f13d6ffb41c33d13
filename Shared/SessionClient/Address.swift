internal import Transfers

/// The address of a gateway.
struct Address: Hashable, Sendable {
    /// Without a slash at the end.
    let url: String
    let isLoopback: Bool

    init(_ text: String) throws(ClientError) {
        let address: WebAddress
        do { address = try WebAddress(text) } catch { throw .invalidURL(text, reason: error.reason) }
        guard address.query == nil, !address.hasFragment else {
            throw .invalidURL(text, reason: "it must not have a query or fragment")
        }
        var url = text
        while url.last == "/" { url.removeLast() }
        self.url = url
        isLoopback = address.isLoopback
    }

    /// One segment of a path, with everything escaped that is no letter, digit, `-`, `.`, `_` or `~`.
    static func escaped(_ segment: String) -> String {
        var result = ""
        for byte in segment.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126: result.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}
