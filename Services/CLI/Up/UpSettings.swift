internal import CLinux
internal import Glibc
internal import Lifecycle

/// What `skillbus up` is to start, and where. All of it is checked before anything is started: what the words say at
/// once, what depends on other programs by ``prepare()``, when the state folder is this one's.
struct UpSettings {
    /// `HOST:PORT` of the gateway; port 0 picks a free one.
    var http: String
    /// Where gateways find the first router, and where workers do.
    var frontend: String
    var backend: String
    /// How many routers there are. The others are beside the first: ten ports further each, or in files of their own.
    var routers: Int
    /// The folder with the executables.
    var programs: String
    /// Skills in order of their names, with the number of worker processes.
    var workers: [(name: String, count: Int)]
    var readyFile: String?
    var isVerbose: Bool
    /// A folder for sockets, besides the state folder, that is to be removed in the end.
    private(set) var temporary: String?

    /// - Throws: `UsageError` for what cannot be, `CommandFailure` for what is missing.
    init(_ options: ParsedOptions, state: String) throws {
        http = options.value("http") ?? "127.0.0.1:8080"
        let (_, port) = try UpSettings.split(http)
        programs = options.value("programs").map(StateFolder.absolute) ?? UpSettings.programFolder
        readyFile = options.value("ready-file").map(StateFolder.absolute)
        isVerbose = options.flag("verbose")
        routers = try options.integer("routers", in: 1...8) ?? 1
        workers = try UpSettings.workers(options, found: UpSettings.workerNames(in: programs), in: programs)
        for program in ["skillbus-router", "skillbus-gateway"]
        where access("\(programs)/\(program)", X_OK) != 0 {
            throw CommandFailure("\(program) is not in \(programs): build all of Skillbus first")
        }
        let given = (options.value("frontend"), options.value("backend"))
        if port == 0 {
            // The kernel takes a path of 107 bytes.
            let isShort = "\(state)/frontend-8.sock".utf8.count <= 107
            let number = UInt64.random(in: 0 ... .max)
            temporary = isShort ? nil : "/tmp/skillbus-\(String(number, radix: 36))"
            frontend = given.0 ?? "ipc://\(temporary ?? state)/frontend.sock"
            backend = given.1 ?? "ipc://\(temporary ?? state)/backend.sock"
        } else {
            temporary = nil
            frontend = given.0 ?? "tcp://127.0.0.1:5555"
            backend = given.1 ?? "tcp://127.0.0.1:5556"
        }
        for endpoint in frontends + backends where endpoint.hasPrefix("tcp://") {
            _ = try UpSettings.split(String(endpoint.dropFirst(6)))
        }
        if let readyFile { try UpSettings.checkWritable(readyFile) }
    }

    /// Takes what the services need. Called once, with the state folder locked.
    /// - Throws: `CommandFailure` for what is taken.
    mutating func prepare() throws {
        if let folder = temporary, mkdir(folder, 0o700) != 0 {
            temporary = nil
            throw CommandFailure("cannot make the folder \(folder): \(String(cString: strerror(errno)))")
        }
        let (host, port) = try UpSettings.split(http)
        if port != 0 {
            try UpSettings.checkPort(
                host,
                "\(port)",
                "the gateway",
                "choose another with --http HOST:PORT (port 0 picks a free one)"
            )
        }
        let bound = frontends.map { ($0, "--frontend") } + backends.map { ($0, "--backend") }
        for (endpoint, option) in bound where endpoint.hasPrefix("tcp://") {
            let (host, port) = try UpSettings.split(String(endpoint.dropFirst(6)))
            try UpSettings.checkPort(host, "\(port)", "the router", "choose another with \(option) tcp://HOST:PORT")
        }
    }

    /// Where gateways find each router, and where workers do.
    var frontends: [String] { (0..<routers).map { UpSettings.endpoint(frontend, of: $0) } }
    var backends: [String] { (0..<routers).map { UpSettings.endpoint(backend, of: $0) } }

    private static func endpoint(_ first: String, of number: Int) -> String {
        guard number > 0 else { return first }
        if first.hasPrefix("ipc://") {
            let name = first.hasSuffix(".sock") ? String(first.dropLast(5)) : first
            return "\(name)-\(number + 1)\(first.hasSuffix(".sock") ? ".sock" : "")"
        }
        guard let colon = first.lastIndex(of: ":"), let port = Int(first[first.index(after: colon)...]) else {
            return first
        }
        return "\(first[...colon])\(port + 10 * number)"
    }

    /// `HOST:PORT`, `[IPV6]:PORT`.
    static func split(_ text: String) throws(UsageError) -> (host: String, port: UInt16) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw UsageError("\"\(text)\" is no address: it must be HOST:PORT, such as 127.0.0.1:8080")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw UsageError("\"\(text)\" is no address: write an IPv6 address as [ADDRESS]:PORT")
        }
        guard !host.isEmpty else { throw UsageError("\"\(text)\" names no host: say 127.0.0.1:\(port)") }
        return (host, port)
    }

    /// A file that cannot be written is said now, and not when everything runs and somebody waits for it.
    private static func checkWritable(_ path: String) throws(CommandFailure) {
        var information = stat()
        if stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR {
            throw CommandFailure("cannot write the ready file \(path): it is a folder")
        }
        let folder = path[..<(path.lastIndex(of: "/") ?? path.endIndex)]
        guard access(folder.isEmpty ? "/" : String(folder), W_OK | X_OK) == 0 else {
            throw CommandFailure("cannot write the ready file \(path): \(String(cString: strerror(errno)))")
        }
    }

    private static func checkPort(_ host: String, _ port: String, _ what: String, _ fix: String) throws(CommandFailure)
    {
        // Every address is one that the service itself understands better.
        guard host != "*" else { return }
        let failure = clinux_try_listen(host, port)
        switch failure {
        case 0: return
        case EADDRINUSE:
            throw CommandFailure("port \(port) on \(host), for \(what), is in use by another program: \(fix)")
        default:
            let reason = String(cString: strerror(failure))
            throw CommandFailure("\(what) cannot listen on port \(port) of \(host) (\(reason)): \(fix)")
        }
    }

    /// The skills that were asked for, of those that are there.
    static func workers(
        _ options: ParsedOptions,
        found: [String],
        in folder: String
    ) throws -> [(name: String, count: Int)] {
        var counts: [String: Int] = [:]
        func known(_ name: String, _ option: String) throws {
            guard !found.contains(name) else { return }
            let near = nearestName(to: name, in: found).map { ": did you mean \($0)?" } ?? ""
            throw UsageError(
                "\(option): there is no worker \"\(name)\" in \(folder)\(near) (there are: \(found.joined(separator: ", ")))"
            )
        }
        for word in options.values("workers") {
            let parts = word.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, let count = Int(parts[1]), 0...64 ~= count else {
                throw UsageError("--workers must be NAME=N with N from 0 to 64, not \"\(word)\"")
            }
            try known(String(parts[0]), "--workers")
            counts[String(parts[0])] = count
        }
        let chosen = options.values("skills").flatMap { $0.split(separator: ",").map(String.init) }
        for name in chosen { try known(name, "--skills") }
        let names = chosen.isEmpty ? found : found.filter { chosen.contains($0) }
        guard !names.isEmpty else {
            throw CommandFailure(
                "no skillbus-worker-* is in \(folder): build all of Skillbus first"
            )
        }
        return names.map { (name: $0, count: counts[$0] ?? 1) }
    }

    /// The folder of this program itself.
    static let programFolder: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer[..<max(count, 0)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }()

    private static let workerPrefix = "skillbus-worker-"

    private static func workerNames(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            // A build folder also has files like skillbus-worker-chat.product.
            guard name.hasPrefix(workerPrefix), !name.contains("."), access("\(folder)/\(name)", X_OK) == 0 else {
                continue
            }
            names.append(String(name.dropFirst(workerPrefix.count)))
        }
        return names.sorted()
    }
}
