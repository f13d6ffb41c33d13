internal import CLinux
internal import Glibc

/// Turns SIGTERM and SIGINT into a stream, from the moment this returns. Call it first thing in `main`.
///
/// It also clears the inherited signal mask, since a parent may have blocked SIGTERM, and ignores SIGPIPE, so that a
/// peer that goes away is an error code. A handler that writes to a pipe is used because a Dispatch source misses
/// signals that come before its registration, and `sigwait` does not work under an async main.
/// - Parameter others: signals that are to come as well, such as SIGHUP.
/// - Returns: the numbers of the signals, as they come.
public func terminationSignals(and others: [Int32] = []) -> AsyncStream<Int32> {
    var ends: [Int32] = [-1, -1]
    let failure = clinux_pipe(&ends)
    precondition(failure == 0, "pipe2: errno \(errno)")
    for number in [SIGTERM, SIGINT] + others { clinux_signal_to(ends[1], number) }
    signal(SIGPIPE, SIG_IGN)
    // A limit on the size of files is an error code too, as a full disk is.
    signal(SIGXFSZ, SIG_IGN)
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
    let (stream, continuation) = AsyncStream<Int32>.makeStream(bufferingPolicy: .bufferingOldest(16))
    startThread(named: "signals") { [readEnd = ends[0]] in
        var number: UInt8 = 0
        while true {
            let count = read(readEnd, &number, 1)
            if count == 1 {
                continuation.yield(Int32(number))
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }
    return stream
}

/// The terminal that a process was started from. Of SIGHUP it tells "read your lists anew" from "the terminal is gone",
/// which ends a program that somebody runs by hand.
public struct StartingTerminal: Sendable {
    private let existed = StartingTerminal.exists

    /// To be made at the start, before the terminal can go.
    public init() {}

    /// Whether there was one and it is there no longer.
    public var isGone: Bool { existed && !StartingTerminal.exists }

    private static var exists: Bool {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}

/// Runs the closure on a new thread of its own, for calls that block: they have no place in a task.
public func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    let failure = pthread_create(
        &thread,
        &attributes,
        { context in
            guard let context else { return nil }
            let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
            clinux_name_thread(start.name)
            start.body()
            return nil
        },
        start.toOpaque()
    )
    precondition(failure == 0, "pthread_create: error \(failure)")
}

/// Leaves the process with a code of ``ExitCode``.
public func leave(_ code: Int32) -> Never { exit(code) }

/// Exit codes of every executable.
public enum ExitCode {
    /// Done.
    public static let success: Int32 = 0
    /// The request failed or was cancelled; a service could not go on.
    public static let failure: Int32 = 1
    /// The command line or the configuration is wrong.
    public static let usage: Int32 = 2
    /// The gateway, or the router, cannot be reached.
    public static let unreachable: Int32 = 3
    /// `--timeout` has passed.
    public static let timeout: Int32 = 124
    /// Interrupted by the user.
    public static let interrupted: Int32 = 130
}

/// Writes to standard error, whole, without buffering.
public func printError(_ text: String, terminator: String = "\n") { _ = writeAll(text + terminator, to: 2) }

/// Writes to standard output, whole, without buffering.
/// - Returns: 0, or why it could not be written: EPIPE when the reader has gone, ENOSPC when the disk is full.
@discardableResult
public func printOutput(_ text: String, terminator: String = "\n") -> Int32 { writeAll(text + terminator, to: 1) }

private func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
        var written = 0
        while written < bytes.count {
            let count = write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return count < 0 ? errno : EIO }
            written += count
        }
        return 0
    }
}

/// Whether the descriptor is a terminal.
public func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }
