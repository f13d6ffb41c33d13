internal import CLinux
internal import Glibc
internal import Lifecycle
internal import Synchronization

/// A child process of `skillbus up`, with what it writes.
///
/// It has a process group of its own, so that Ctrl-C reaches it only through the supervisor and in order; and the
/// reading end of a pipe as standard input that nobody writes to: its end tells the child that the supervisor is gone.
final class ServiceProcess: Sendable {
    enum Stream: Sendable { case output, error }

    let id: Int32
    private let isReaped = Mutex(false)
    private let inputEnd: Int32

    /// Starts the program.
    /// - Parameters:
    ///   - path: of the executable.
    ///   - arguments: after its name.
    ///   - environment: changes to that of this process.
    ///   - withholding: variables of this process that are not its to know, besides those that are nobody's.
    ///   - onLine: called for each line that it writes, with the process's id, on a thread of its own.
    ///   - onExit: called once after its end, with its id and the wait status, after the last line.
    /// - Throws: `CommandFailure` naming the program.
    init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String],
        withholding: [String] = [],
        onLine: @escaping @Sendable (Int32, Stream, String) -> Void,
        onExit: @escaping @Sendable (Int32, Int32) -> Void
    ) throws(CommandFailure) {
        func fail(_ code: Int32) -> CommandFailure {
            CommandFailure("cannot start \(path): \(String(cString: strerror(code)))")
        }
        var input: [Int32] = [-1, -1]
        var output: [Int32] = [-1, -1]
        var error: [Int32] = [-1, -1]
        var gone: [Int32] = [-1, -1]
        guard clinux_pipe(&input) == 0, clinux_pipe(&output) == 0, clinux_pipe(&error) == 0, clinux_pipe(&gone) == 0
        else { throw fail(errno) }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        posix_spawn_file_actions_adddup2(&actions, error[1], 2)
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
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        // A service manager that started this program waits for its word, not for its children's. Services need no
        // client's token, and their keys are this program's to give.
        let withheld =
            withholding + ServiceManager.variables + ["SKILLBUS_TOKEN", "SKILLBUS_TOKEN_FILE", "SKILLBUS_KEY_FILE"]
        let own = Environment.all.filter { !withheld.contains($0.key) }
        let variables = own.merging(environment) { $1 }
        let argv = ([path] + arguments).map { strdup($0) } + [nil]
        let envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            argv.forEach { free($0) }
            envp.forEach { free($0) }
        }
        var child: pid_t = 0
        let failure = posix_spawn(&child, path, &actions, &attributes, argv, envp)
        for end in [input[0], output[1], error[1]] { close(end) }
        guard failure == 0 else {
            for end in [input[1], output[0], error[0], gone[0], gone[1]] { close(end) }
            throw fail(failure)
        }
        id = child
        inputEnd = input[1]
        startThread(named: "wait") { [self, gone] in
            // Not reaped yet: so that the number cannot be another process's when a signal is sent.
            var information = siginfo_t()
            while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
            var status: Int32 = 0
            isReaped.withLock { isReaped in
                while waitpid(id, &status, 0) < 0 && errno == EINTR {}
                isReaped = true
            }
            close(inputEnd)
            withUnsafeBytes(of: &status) { _ = write(gone[1], $0.baseAddress, $0.count) }
            close(gone[1])
        }
        startThread(named: "output") { [id, output, error, gone] in
            let status = ServiceProcess.read(output[0], error[0], gone[0]) { onLine(id, $0, $1) }
            for end in [output[0], error[0], gone[0]] { close(end) }
            onExit(id, status)
        }
    }

    /// Sends a signal, unless it has ended.
    func send(_ signal: Int32) {
        isReaped.withLock { isReaped in
            if !isReaped { kill(id, signal) }
        }
    }

    /// Reads both streams until the process is gone and what it wrote has been read. A grandchild that still holds
    /// them is not waited for.
    private static func read(
        _ output: Int32,
        _ error: Int32,
        _ gone: Int32,
        _ onLine: (Stream, String) -> Void
    ) -> Int32 {
        var lines = (output: LineBuffer(), error: LineBuffer())
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var polled = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0), pollfd(fd: error, events: Int16(POLLIN), revents: 0),
            pollfd(fd: gone, events: Int16(POLLIN), revents: 0),
        ]
        var status: Int32?
        while true {
            let ready = poll(&polled, nfds_t(polled.count), status == nil ? -1 : 0)
            if ready < 0 && errno == EINTR { continue }
            if ready <= 0 && status != nil { break }
            for index in 0..<2 where polled[index].revents != 0 {
                let count = Glibc.read(polled[index].fd, &buffer, buffer.count)
                if count <= 0 {
                    polled[index].fd = -1
                } else if index == 0 {
                    for line in lines.output.take(buffer[..<count]) { onLine(.output, line) }
                } else {
                    for line in lines.error.take(buffer[..<count]) { onLine(.error, line) }
                }
            }
            if polled[2].revents != 0 {
                var value: Int32 = 0
                withUnsafeMutableBytes(of: &value) { _ = Glibc.read(gone, $0.baseAddress, $0.count) }
                status = value
                polled[2].fd = -1
            }
        }
        if let line = lines.output.rest { onLine(.output, line) }
        if let line = lines.error.rest { onLine(.error, line) }
        return status ?? 0
    }
}

/// Lines out of pieces; one that is too long is cut.
struct LineBuffer {
    private static let longest = 64 * 1024
    private var pending: [UInt8] = []

    mutating func take(_ bytes: ArraySlice<UInt8>) -> [String] {
        pending += bytes
        var lines: [String] = []
        var start = 0
        while let end = pending[start...].firstIndex(of: 10) {
            lines.append(String(decoding: pending[start..<end], as: UTF8.self))
            start = end + 1
        }
        pending.removeFirst(start)
        if pending.count > LineBuffer.longest {
            lines.append(String(decoding: pending, as: UTF8.self))
            pending = []
        }
        return lines
    }

    /// What came after the last line feed.
    var rest: String? { pending.isEmpty ? nil : String(decoding: pending, as: UTF8.self) }
}

/// How a process ended, for a person.
func endWords(_ status: Int32) -> String {
    let signal = status & 0x7f
    return signal == 0 ? "exited with code \(status >> 8 & 0xff)" : "was ended by signal \(signal)"
}
