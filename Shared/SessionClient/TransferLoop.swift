internal import CCurl
internal import Glibc
internal import Lifecycle
internal import Synchronization

/// The one thread that owns all libcurl handles of this process. Others reach it through a queue and a wake-up, so that
/// a cancel closes its connection at once, also when nothing is being received.
final class TransferLoop: Sendable {
    static let shared = TransferLoop()

    private enum Command {
        case start(HTTPRequest, Exchange)
        case resume(Exchange)
        case cancel(Exchange)
    }
    private let commands = Mutex<[Command]>([])
    // Only the thread uses it, apart from curl_multi_wakeup, which libcurl allows from any thread. It is never freed:
    // the loop lives as long as the process.
    nonisolated(unsafe) private let multi: UnsafeMutableRawPointer

    private init() {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let multi = curl_multi_init() else { preconditionFailure("curl_multi_init: out of memory") }
        self.multi = multi
        startThread(named: "http") { [self] in run() }
    }

    func start(_ request: HTTPRequest, _ exchange: Exchange) { put(.start(request, exchange)) }
    func resume(_ exchange: Exchange) { put(.resume(exchange)) }
    func cancel(_ exchange: Exchange) { put(.cancel(exchange)) }

    private func put(_ command: Command) {
        commands.withLock { $0.append(command) }
        curl_multi_wakeup(multi)
    }

    private func run() {
        var transfers: [ObjectIdentifier: Transfer] = [:]
        while true {
            let taken = commands.withLock { commands in
                defer { commands = [] }
                return commands
            }
            for command in taken {
                switch command {
                case .start(let request, let exchange):
                    guard let transfer = Transfer(request, exchange) else {
                        exchange.ended(.failure(.unreachable(url: request.url, reason: "out of memory")))
                        continue
                    }
                    transfers[ObjectIdentifier(exchange)] = transfer
                    curl_multi_add_handle(multi, transfer.handle)
                case .resume(let exchange):
                    if let transfer = transfers[ObjectIdentifier(exchange)] { ccurl_continue(transfer.handle) }
                case .cancel(let exchange):
                    if let transfer = transfers.removeValue(forKey: ObjectIdentifier(exchange)) {
                        curl_multi_remove_handle(multi, transfer.handle)
                    }
                    exchange.ended(.failure(.cancelled))
                }
            }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
                let code = ccurl_result(message)
                guard let (key, transfer) = transfers.first(where: { $0.value.handle == handle }) else { continue }
                curl_multi_remove_handle(multi, handle)
                transfers[key] = nil
                transfer.exchange.ended(transfer.result(code))
            }
            if commands.withLock({ $0.isEmpty }) { curl_multi_poll(multi, nil, 0, 60_000, nil) }
        }
    }
}

/// An easy handle with what its callbacks need. Lives on the loop's thread.
private final class Transfer {
    let handle: UnsafeMutableRawPointer
    let exchange: Exchange
    private let request: HTTPRequest
    private var lines: UnsafeMutablePointer<curl_slist>?
    private var head = HTTPHead(status: 0, headers: [])

    init?(_ request: HTTPRequest, _ exchange: Exchange) {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        self.exchange = exchange
        self.request = request
        ccurl_set_string(handle, CURLOPT_URL, request.url)
        ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method)
        ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        ccurl_set_long(handle, CURLOPT_TCP_NODELAY, 1)
        ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, 5000)
        if request.isLoopback { ccurl_set_string(handle, CURLOPT_PROXY, "") }
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
        for header in request.headers { lines = curl_slist_append(lines, "\(header.name): \(header.value)") }
        ccurl_set_list(handle, CURLOPT_HTTPHEADER, lines)
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_set_header(handle, { receiveHeader($0, $1, $2, $3) }, context)
        ccurl_set_write(handle, { receiveBody($0, $1, $2, $3) }, context)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(lines)
    }

    func receive(line bytes: UnsafeRawBufferPointer) {
        var text = String(decoding: bytes, as: UTF8.self)
        while let last = text.unicodeScalars.last, last == "\r" || last == "\n" { text.unicodeScalars.removeLast() }
        if text.hasPrefix("HTTP/") {
            let words = text.split(separator: " ")
            head = HTTPHead(status: words.count > 1 ? Int(words[1]) ?? 0 : 0, headers: [])
        } else if text.isEmpty {
            if head.status >= 200 { exchange.received(head) }
        } else if let colon = text.firstIndex(of: ":") {
            var value = text[text.index(after: colon)...]
            while value.first == " " || value.first == "\t" { value.removeFirst() }
            head.headers.append((text[..<colon].lowercased(), String(value)))
        }
    }

    func result(_ code: CURLcode) -> Result<Void, ClientError> {
        let url = request.origin
        switch code {
        case CURLE_OK: return .success(())
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return .failure(.invalidURL(url, reason: reason(code)))
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY,
            CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE:
            return .failure(.unreachable(url: url, reason: reason(code)))
        case CURLE_OPERATION_TIMEDOUT:
            var connected = 0.0
            ccurl_get_time(handle, CURLINFO_CONNECT_TIME, &connected)
            if connected == 0 { return .failure(.unreachable(url: url, reason: "no connection within 5 s")) }
            if let silence = request.silence {
                return .failure(.interrupted(url: url, reason: "silent for \(silence) s"))
            }
            return .failure(.timeout(url: url, seconds: request.seconds ?? 0))
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2:
            return .failure(.badResponse(url: url, reason: reason(code)))
        default: return .failure(.interrupted(url: url, reason: reason(code)))
        }
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
    let isTaken = transfer.exchange.received(UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isTaken ? size * count : ccurl_pause()
}
