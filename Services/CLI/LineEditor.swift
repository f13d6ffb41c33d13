internal import CEdit
internal import CLinux
internal import Glibc
internal import Lifecycle
internal import Synchronization

/// A line at a terminal, with editing and history by libedit. All of it is called on one thread.
///
/// libedit is asked for one key at a time and waits for none, so that this thread can do something else in between: its
/// own `readline` can neither be woken nor be called into from another thread. Signals are the program's: libedit's
/// handlers would give the terminal back in the middle of a line, after which Ctrl-D means something else.
struct LineEditor {
    /// Lines of the history that are kept.
    private static let kept: Int32 = 1000

    /// What libedit hands over, on this thread, when a line is complete.
    private enum Typed: Sendable {
        case line([UInt8])
        case end
    }
    private static let typed = Mutex<Typed?>(nil)

    private let history: String

    /// - Parameter history: the file that keeps what was typed.
    init(history: String) {
        self.history = history
        // libedit reads wide characters as the locale says. A locale of another encoding would garble them.
        let locale = setlocale(LC_CTYPE, "").map { String(cString: $0).lowercased() } ?? ""
        if !locale.contains("utf-8") && !locale.contains("utf8") { setlocale(LC_CTYPE, "C.UTF-8") }
        cedit_configure()
        rl_initialize()
        using_history()
        stifle_history(LineEditor.kept)
        _ = mkdir(String(history.prefix(upTo: history.lastIndex(of: "/") ?? history.endIndex)), 0o700)
        read_history(history)
    }

    /// The next line; nil at the end, which Ctrl-D on an empty line is.
    /// - Parameters:
    ///   - prompt: shown before it.
    ///   - wakeUp: whenever this can be read from, `interruption` is called and the line shown again.
    ///   - interruption: writes to the terminal.
    /// - Returns: the line; a failure when it is not UTF-8.
    func line(_ prompt: String, wakeUp: Int32, interruption: () -> Void) -> Result<String?, UsageError> {
        rl_callback_handler_install(prompt) { bytes in
            let line = bytes.map { Typed.line(Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))) }
            free(bytes)
            LineEditor.typed.withLock { $0 = line ?? .end }
        }
        defer { rl_callback_handler_remove() }
        var columns = clinux_columns(0)
        var polled = [
            pollfd(fd: 0, events: Int16(POLLIN), revents: 0), pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            if poll(&polled, nfds_t(polled.count), -1) < 0 { continue }
            if polled[1].revents != 0 {
                interruption()
                rl_forced_update_display()
            }
            guard polled[0].revents != 0 else { continue }
            // A terminal that has gone, and holds nothing any more.
            guard polled[0].revents & Int16(POLLIN) != 0, polled[0].revents & Int16(POLLHUP | POLLERR) == 0 else {
                return .success(nil)
            }
            if clinux_columns(0) != columns {
                columns = clinux_columns(0)
                rl_resize_terminal()
            }
            rl_callback_read_char()
            let typed = LineEditor.typed.withLock { typed in
                defer { typed = nil }
                return typed
            }
            switch typed {
            case .line(let bytes): return taken(bytes)
            case .end: return .success(nil)
            case nil: break
            }
        }
    }

    private func taken(_ bytes: [UInt8]) -> Result<String?, UsageError> {
        guard let line = String(validating: bytes, as: UTF8.self) else {
            return .failure(UsageError("the line is not valid UTF-8: set the terminal to UTF-8"))
        }
        if line.contains(where: { !$0.isWhitespace }) {
            add_history(line)
            // What was asked is for the user's eyes only.
            let mask = umask(0o077)
            write_history(history)
            umask(mask)
        }
        return .success(line)
    }
}
