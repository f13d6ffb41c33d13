internal import CCurl
internal import Glibc

/// What has come since the loop's thread was woken. Lives on that thread.
final class TransferLoad {
    var pace = WakePace()
}

/// An easy handle with what its callbacks need. Lives on the loop's thread.
final class Transfer {
    let handle: UnsafeMutableRawPointer
    let exchange: Exchange
    let load: TransferLoad
    private let request: TransferRequest
    private var lines: UnsafeMutablePointer<curl_slist>?
    private var head = TransferHead(status: 0)
    /// What libcurl's callback sets when it has refused a connection to another host.
    private let refused: UnsafeMutablePointer<Int32>

    init?(_ request: TransferRequest, _ exchange: Exchange, _ load: TransferLoad) {
        guard let handle = curl_easy_init() else { return nil }
        self.load = load
        self.handle = handle
        self.exchange = exchange
        self.request = request
        refused = .allocate(capacity: 1)
        refused.initialize(to: 0)
        ccurl_set_string(handle, CURLOPT_URL, request.url)
        ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method)
        ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        ccurl_set_long(handle, CURLOPT_TCP_NODELAY, 1)
        ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(request.connectSeconds * 1000))
        if request.ignoresProxies || request.staysOnHost { ccurl_set_string(handle, CURLOPT_PROXY, "") }
        if request.staysOnHost {
            ccurl_only_loopback(handle, refused)
            // A connection that was made when more was allowed must not serve this.
            ccurl_set_long(handle, CURLOPT_FRESH_CONNECT, request.ignoresProxies ? 0 : 1)
        }
        if let seconds = request.seconds { ccurl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(seconds * 1000)) }
        if let silence = request.silence {
            ccurl_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
            ccurl_set_long(handle, CURLOPT_LOW_SPEED_TIME, silence)
        }
        if let body = request.body {
            ccurl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, Int(body.count))
            body.withUnsafeBytes { bytes in
                // Copied by libcurl, which only reads it.
                _ = ccurl_set_pointer(
                    handle,
                    CURLOPT_COPYPOSTFIELDS,
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                )
            }
            lines = curl_slist_append(lines, "Expect:")
        }
        // What is compressed without having been asked for is read all the same.
        ccurl_set_string(handle, CURLOPT_ACCEPT_ENCODING, "gzip, deflate")
        lines = curl_slist_append(lines, "Accept-Encoding: identity")
        for header in request.headers { lines = curl_slist_append(lines, "\(header.name): \(header.value)") }
        ccurl_set_list(handle, CURLOPT_HTTPHEADER, lines)
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_set_context(handle, context)
        ccurl_set_header(handle, { receiveHeader($0, $1, $2, $3) }, context)
        ccurl_set_write(handle, { receiveBody($0, $1, $2, $3) }, context)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(lines)
        refused.deallocate()
    }

    func receive(line bytes: UnsafeRawBufferPointer) {
        var text = String(decoding: bytes, as: UTF8.self)
        while let last = text.unicodeScalars.last, last == "\r" || last == "\n" { text.unicodeScalars.removeLast() }
        if text.hasPrefix("HTTP/") {
            let words = text.split(separator: " ")
            head = TransferHead(status: words.count > 1 ? Int(words[1]) ?? 0 : 0)
        } else if text.isEmpty {
            if head.status >= 200 { exchange.received(head) }
        } else if let colon = text.firstIndex(of: ":") {
            var value = text[text.index(after: colon)...]
            while value.first == " " || value.first == "\t" { value.removeFirst() }
            head.headers.append((text[..<colon].lowercased(), String(value)))
        }
    }

    func result(_ code: CURLcode) -> Result<Void, TransferError> {
        if refused.pointee != 0, code != CURLE_OK { return .failure(.outside) }
        switch code {
        case CURLE_OK: return .success(())
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: return .failure(.invalidURL(reason: reason(code)))
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY,
            CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE:
            return .failure(.unreachable(reason: reason(code)))
        case CURLE_OPERATION_TIMEDOUT:
            // Unlike the time of connecting, this is also there where a connection was used again.
            var prepared = 0.0
            ccurl_get_time(handle, CURLINFO_PRETRANSFER_TIME, &prepared)
            if prepared == 0 { return .failure(.unreachable(reason: "no connection within \(limit) s")) }
            if let silence = request.silence { return .failure(.interrupted(reason: "silent for \(silence) s")) }
            return .failure(.timeout(seconds: request.seconds ?? 0))
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2: return .failure(.badResponse(reason: reason(code)))
        default: return .failure(.interrupted(reason: reason(code)))
        }
    }

    private var limit: String {
        let seconds = min(request.connectSeconds, request.seconds ?? .infinity)
        return seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    }

    private func reason(_ code: CURLcode) -> String {
        var number = 0
        ccurl_get_long(handle, CURLINFO_OS_ERRNO, &number)
        if code == CURLE_COULDNT_CONNECT, number != 0, let text = strerror(Int32(truncatingIfNeeded: number)) {
            return String(cString: text)
        }
        return curl_easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
    }
}

private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    transfer.receive(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return size * count
}

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    transfer.load.pace.bytes += size * count
    let isTaken = transfer.exchange.received(UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isTaken ? size * count : ccurl_pause()
}
