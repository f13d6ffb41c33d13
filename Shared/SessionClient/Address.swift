internal import CCurl

/// The address of a gateway, taken apart by libcurl.
struct Address: Hashable, Sendable {
    /// Without a slash at the end.
    let url: String
    let isLoopback: Bool

    init(_ text: String) throws(ClientError) {
        func refuse(_ reason: String) -> ClientError { .invalidURL(text, reason: reason) }
        guard let handle = curl_url() else { throw refuse("out of memory") }
        defer { curl_url_cleanup(handle) }
        let code = curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else {
            throw refuse(curl_url_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)")
        }
        func part(_ part: CURLUPart) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, part, &value, 0) == CURLUE_OK, let value else { return nil }
            defer { curl_free(value) }
            return String(cString: value)
        }
        guard let scheme = part(CURLUPART_SCHEME), scheme == "http" || scheme == "https" else {
            throw refuse("it must start with http:// or https://")
        }
        guard let host = part(CURLUPART_HOST), !host.isEmpty else { throw refuse("it names no host") }
        guard part(CURLUPART_QUERY) == nil, part(CURLUPART_FRAGMENT) == nil else {
            throw refuse("it must not have a query or fragment")
        }
        var url = text
        while url.last == "/" { url.removeLast() }
        self.url = url
        isLoopback = host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
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
