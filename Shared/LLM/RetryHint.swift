internal import Transfers
internal import Wire

/// How long an endpoint asks to wait, in all the forms that are in use.
enum RetryHint {
    /// Longer than any call lives.
    private static let longest = 365.0 * 86_400

    /// Seconds; 0 for a date that has passed; nil where nothing usable is said.
    static func seconds(_ head: TransferHead, _ body: JSONValue?) -> Double? {
        if let value = head.value("retry-after-ms").flatMap(Double.init), usable(value) {
            return min(value / 1000, longest)
        }
        if let text = head.value("retry-after") {
            if let value = Double(text) {
                if usable(value) { return min(value, longest) }
            } else if let value = HTTPDate.secondsUntil(text) {
                return min(max(0, value), longest)
            }
        }
        if let value = detail(body) { return min(value, longest) }
        return reset(head)
    }

    private static func usable(_ value: Double) -> Bool { value.isFinite && value >= 0 }

    /// Gemini: `error.details[].retryDelay`, such as `17s`.
    private static func detail(_ body: JSONValue?) -> Double? {
        let error = body?["error"] ?? body?.array?.first?["error"]
        return error?["details"]?.array?.lazy.compactMap { $0["retryDelay"]?.string.flatMap(duration) }.first
    }

    /// OpenAI: when what is used up is there again.
    private static func reset(_ head: TransferHead) -> Double? {
        ["requests", "tokens"].compactMap { kind -> Double? in
            guard head.value("x-ratelimit-remaining-\(kind)") == "0" else { return nil }
            return head.value("x-ratelimit-reset-\(kind)").flatMap(duration)
        }.max()
    }

    /// `1s`, `6m0s`, `94ms`, `1h2m3.5s`.
    static func duration(_ text: String) -> Double? {
        var total = 0.0
        var rest = text[...]
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard let value = Double(digits) else { return nil }
            rest = rest[digits.endIndex...]
            let unit = rest.prefix { $0.isLetter }
            rest = rest[unit.endIndex...]
            switch unit {
            case "ms": total += value / 1000
            case "s": total += value
            case "m": total += value * 60
            case "h": total += value * 3600
            default: return nil
            }
        }
        return usable(total) ? total : nil
    }
}
