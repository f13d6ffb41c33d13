internal import Glibc
internal import Synchronization

/// Turns names of routers into their addresses, on a thread of its own: libzmq would do it in the thread that carries the
/// traffic, where a name server that does not answer holds up every connection, and it takes the first address only.
public final class AddressResolver: Sendable {
    /// How a name is looked up: for a host and a port all numeric endpoints, an empty list if there are none, nil if nobody
    /// who should know has answered.
    public struct LookUp: Sendable {
        let endpoints: @Sendable (_ host: String, _ port: String) -> [String]?

        /// A look-up of one's own, for tests and other directories.
        public init(_ endpoints: @escaping @Sendable (_ host: String, _ port: String) -> [String]?) {
            self.endpoints = endpoints
        }

        /// As the system does it: by /etc/hosts and name servers.
        public static let system = LookUp { systemEndpoints($0, $1) }
    }

    private enum Entry {
        case address(String)
        case name(host: String, port: String)
    }

    /// How often names are looked up again, in milliseconds.
    private static let interval = 5000
    /// How often while a router is away or a name has no address.
    private static let hurry = 500
    /// Look-ups in a hurry after a loss.
    private static let hurries = 10

    private struct State {
        /// The last answer for each entry. What is not answered stays as it was.
        var answers: [[String]]
        var isStopped = false
        var hurries = 0
    }
    private let entries: [Entry]
    private let lookUp: LookUp
    private let state: Mutex<State>
    private let wakeUp = try? WakeUp()

    /// Looks nothing up yet.
    public init(_ endpoints: [String], lookUp: LookUp = .system) {
        self.lookUp = lookUp
        entries = endpoints.map { endpoint in
            guard let (host, port) = AddressResolver.name(in: endpoint) else { return .address(endpoint) }
            return .name(host: host, port: port)
        }
        state = Mutex(
            State(answers: entries.map { if case .address(let endpoint) = $0 { [endpoint] } else { [] } })
        )
    }

    /// Whether there is anything to look up.
    public var hasNames: Bool { entries.contains { if case .name = $0 { true } else { false } } }

    /// What is known now: each address once, in the order of the entries.
    public var known: [String] { state.withLock { AddressResolver.unique($0.answers) } }

    /// Looks everything up once, as whoever asks one question does.
    public func resolve() -> [String] {
        look()
        return known
    }

    /// Looks up from now on, until ``stop()``. `onChange` gets all addresses when they are others than before.
    func start(onChange: @escaping @Sendable ([String]) -> Void) {
        runThread(named: "resolver") { [self] in
            var last = known
            while !state.withLock({ $0.isStopped }) {
                look()
                let now = known
                if now != last { onChange(now) }
                last = now
                let isHurried = state.withLock { state in
                    let hasNone = state.answers.contains { $0.isEmpty }
                    if state.hurries > 0 { state.hurries -= 1 }
                    return hasNone || state.hurries > 0
                }
                rest(isHurried ? AddressResolver.hurry : AddressResolver.interval)
            }
        }
    }

    /// A router is lost: its name may have moved.
    func lookSoon() {
        state.withLock { $0.hurries = AddressResolver.hurries }
        wakeUp?.signal()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wakeUp?.signal()
    }

    private func rest(_ milliseconds: Int) {
        guard let wakeUp else { return _ = usleep(UInt32(milliseconds) * 1000) }
        var waited = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&waited, 1, Int32(milliseconds)) > 0 { wakeUp.clear() }
    }

    private func look() {
        for (index, entry) in entries.enumerated() {
            guard case .name(let host, let port) = entry, let answer = lookUp.endpoints(host, port) else { continue }
            state.withLock { $0.answers[index] = answer }
        }
    }

    private static func unique(_ answers: [[String]]) -> [String] {
        var seen: Set<String> = []
        return answers.joined().filter { seen.insert($0).inserted }
    }

    /// Host and port of an address by name; nil for one that is numeric, no TCP, or nothing that can be looked up.
    private static func name(in endpoint: String) -> (host: String, port: String)? {
        guard endpoint.hasPrefix("tcp://") else { return nil }
        let address = endpoint.dropFirst("tcp://".count)
        guard let colon = address.lastIndex(of: ":") else { return nil }
        let host = String(address[..<colon])
        let port = String(address[address.index(after: colon)...])
        var bytes = in_addr()
        guard !host.isEmpty, !host.hasPrefix("["), UInt16(port) != nil, inet_pton(AF_INET, host, &bytes) != 1 else {
            return nil
        }
        return (host, port)
    }
}

/// Addresses of version 4, and those of version 6 only where there are none: many hosts have both, for one router.
private func systemEndpoints(_ host: String, _ port: String) -> [String]? {
    // EAI_NODATA, which the header has among its extensions.
    let noAddress: Int32 = -5
    var hasAnswer = false
    for family in [AF_INET, AF_INET6] {
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(host, port, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        if failure == EAI_NONAME || failure == noAddress {
            hasAnswer = true
            continue
        }
        guard failure == 0 else { continue }
        hasAnswer = true
        var endpoints: [String] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ai_next
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(name.count)
            guard getnameinfo(entry.ai_addr, entry.ai_addrlen, &name, length, nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            endpoints.append(family == AF_INET6 ? "tcp://[\(text)]:\(port)" : "tcp://\(text):\(port)")
        }
        // In a fixed order: servers turn the list at each answer, and an order is no news.
        if !endpoints.isEmpty { return endpoints.sorted() }
    }
    return hasAnswer ? [] : nil
}
