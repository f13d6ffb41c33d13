internal import CLinux
internal import Glibc
internal import Synchronization

/// A process that a test started. It dies with the test, and its output is read line by line as it comes.
///
/// `Foundation.Process` is not used: from a task it starts children with SIGTERM blocked.
public final class ChildProcess: Sendable {
    public enum Stream: Sendable { case output, error }

    public let id: Int32
    private struct State {
        var lines: [(stream: Stream, text: String)] = []
        /// What was written behind the last line.
        var pending: [Stream: String] = [:]
        var openStreams = 0
        var status: Int32?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }
    /// What the reading threads share with this: they must not keep the process itself alive.
    private final class Record: Sendable {
        let state = Mutex(State())

        func change(_ body: (inout State) -> Void) {
            let waiters = state.withLock { state in
                body(&state)
                defer { state.waiters = [] }
                return state.waiters
            }
            waiters.forEach { $0.resume() }
        }

        func read(_ descriptor: Int32, as stream: Stream) {
            change { $0.openStreams += 1 }
            thread { [self] in
                var pending: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = Glibc.read(descriptor, &buffer, buffer.count)
                    if count < 0 && errno == EINTR { continue }
                    if count <= 0 { break }
                    pending += buffer[..<count]
                    while let end = pending.firstIndex(of: 10) {
                        let line = String(decoding: pending[..<end], as: UTF8.self)
                        pending.removeSubrange(...end)
                        change { $0.lines.append((stream, line)) }
                    }
                    let rest = String(decoding: pending, as: UTF8.self)
                    change { $0.pending[stream] = rest }
                }
                close(descriptor)
                let rest = String(decoding: pending, as: UTF8.self)
                change {
                    if !rest.isEmpty { $0.lines.append((stream, rest)) }
                    $0.openStreams -= 1
                }
            }
        }
    }
    private let record = Record()
    private let inputEnd: Mutex<Int32>

    /// Starts `path` with the arguments. The environment is this process's with the given changes; nil removes.
    /// - Parameter onTerminal: all three streams are one terminal, whose other side `write` and `lines` are.
    public init(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        onTerminal: Bool = false
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let streams = try onTerminal ? Streams(terminalFor: &actions) : Streams(pipesFor: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        // Of a session of its own, the first terminal that it opens becomes the one that sends it signals.
        let group = onTerminal ? 0x80 /* POSIX_SPAWN_SETSID */ : POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))

        var variables = currentEnvironment()
        for (name, value) in environment { variables[name] = value }
        let argv = ([path] + arguments).map { strdup($0) } + [nil]
        let envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            argv.forEach { free($0) }
            envp.forEach { free($0) }
        }
        var child: pid_t = 0
        let failure = starting.withLock { _ in posix_spawnp(&child, path, &actions, &attributes, argv, envp) }
        for end in streams.childEnds { close(end) }
        guard failure == 0 else {
            for end in streams.ends { close(end) }
            throw SpawnError(code: failure)
        }
        id = child
        inputEnd = Mutex(streams.input)
        record.read(streams.output, as: .output)
        if let error = streams.error { record.read(error, as: .error) }
        let pid = child
        thread { [record] in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
            record.change { $0.status = status }
        }
    }

    /// No child outlives its test, unless it is known to be gone: then the number may be somebody else's.
    deinit {
        if record.state.withLock({ $0.status == nil }) { kill(-id, SIGKILL) }
        let end = inputEnd.withLock { $0 }
        if end >= 0 { close(end) }
    }

    public func send(_ signal: Int32) {
        if record.state.withLock({ $0.status == nil }) { kill(id, signal) }
    }

    public func write(_ text: String) {
        let bytes = Array(text.utf8)
        inputEnd.withLock { end in
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { Glibc.write(end, $0.baseAddress! + sent, bytes.count - sent) }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    public func closeInput() {
        inputEnd.withLock {
            if $0 >= 0 { close($0) }
            $0 = -1
        }
    }

    /// The lines so far, both streams in the order of arrival.
    public var lines: [String] { record.state.withLock { $0.lines.map(\.text) } }
    public func lines(of stream: Stream) -> [String] {
        record.state.withLock { $0.lines.filter { $0.stream == stream }.map(\.text) }
    }
    /// What stands behind the last line of the output: a prompt.
    public var pending: String { record.state.withLock { $0.pending[.output] ?? "" } }
    public var output: String { lines(of: .output).joined(separator: "\n") }
    public var errorOutput: String { lines(of: .error).joined(separator: "\n") }

    /// Waits for a line; nil if the process ends without one, or the test's time is up.
    public func line(
        of stream: Stream? = nil,
        where matches: @escaping @Sendable (String) -> Bool
    ) async -> String? {
        await until(else: nil) { state in
            if let line = state.lines.first(where: { (stream == nil || $0.stream == stream) && matches($0.text) }) {
                return .some(line.text)
            }
            return state.openStreams == 0 && state.status != nil ? .some(nil) : nil
        }
    }

    /// Waits for the end: the exit code, or minus the number of the signal that ended it; `unfinished` when the test's
    /// time is up.
    @discardableResult
    public func exitCode() async -> Int32 {
        await until(else: ChildProcess.unfinished) { state in
            guard let status = state.status, state.openStreams == 0 else { return nil }
            return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
        }
    }

    /// No exit code of any process.
    public static let unfinished = Int32.min

    /// Looks at the state after every change. A cancelled test, whose time is up, does not wait for ever.
    private func until<Value>(else unknown: Value, _ check: (borrowing State) -> Value?) async -> Value {
        while true {
            if let value = record.state.withLock({ check($0) }) { return value }
            if Task.isCancelled { return unknown }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // Looked at again under the lock, so that no change between the two is missed.
                    let isOver = record.state.withLock { state in
                        if Task.isCancelled || check(state) != nil { return true }
                        state.waiters.append(continuation)
                        return false
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                record.change { _ in }
            }
        }
    }
}

/// A child's streams: this side's ends, and what the child is told to open.
private struct Streams {
    let input: Int32
    let output: Int32
    let error: Int32?
    var childEnds: [Int32] = []
    var ends: [Int32] { [input, output] + (error.map { [$0] } ?? []) }

    init(pipesFor actions: inout posix_spawn_file_actions_t) throws {
        var input: [Int32] = [0, 0], output: [Int32] = [0, 0], error: [Int32] = [0, 0]
        guard clinux_pipe(&input) == 0, clinux_pipe(&output) == 0, clinux_pipe(&error) == 0 else {
            throw SpawnError(code: errno)
        }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        posix_spawn_file_actions_adddup2(&actions, error[1], 2)
        (self.input, self.output, self.error) = (input[1], output[0], error[0])
        childEnds = [input[0], output[1], error[1]]
    }

    init(terminalFor actions: inout posix_spawn_file_actions_t) throws {
        var master: Int32 = -1, slave: Int32 = -1
        var name = [CChar](repeating: 0, count: 128)
        // No other child is started in between, which would inherit them.
        let isOpen = starting.withLock { _ in
            guard openpty(&master, &slave, &name, nil, nil) == 0 else { return false }
            for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return true
        }
        guard isOpen else { throw SpawnError(code: errno) }
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        // An end each, since reading and writing close theirs at times of their own.
        (input, output, error) = (fcntl(master, F_DUPFD_CLOEXEC, 0), master, nil)
        childEnds = [slave]
    }
}

public struct SpawnError: Error { public let code: Int32 }

/// Held while a child is started, and while a program is written that is to be run.
let starting = Mutex(())

/// Runs a program to its end.
public func run(
    _ path: String,
    _ arguments: [String] = [],
    environment: [String: String?] = [:],
    input: String? = nil
) async throws -> (code: Int32, output: String, error: String) {
    let child = try ChildProcess(path, arguments, environment: environment)
    if let input { child.write(input) }
    child.closeInput()
    let code = await child.exitCode()
    return (code, child.output, child.errorOutput)
}

/// The folder with this run's executables: that of the test bundle itself.
public let products: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer[..<max(count, 0)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
}()

/// The folder of the project.
public let projectFolder: String = {
    let file = #filePath
    return String(file.dropLast("/Tests/Support/ChildProcess.swift".count))
}()

private func currentEnvironment() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = clinux_environment()
    while let pointer = entry?.pointee {
        let text = String(cString: pointer)
        if let equals = text.firstIndex(of: "=") {
            variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        entry = entry?.advanced(by: 1)
    }
    return variables
}

public func thread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let failure = pthread_create(
        &thread,
        nil,
        { context in
            Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
            return nil
        },
        box.toOpaque()
    )
    precondition(failure == 0)
    pthread_detach(thread)
}
