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
///
/// libedit ends each line in memory that it has given back once a line, or what is left behind a shorter one, has more
/// than 1024 bytes; the program then aborts in the middle of a paste. It gets memory that stays, and every character is
/// judged before it, so that none of its buffers has to grow: neither by typing and pasting, nor from the history, nor
/// by what Ctrl-Y brings back.
struct LineEditor {
    /// Lines of the history that are kept.
    private static let kept: Int32 = 1000

    /// What libedit hands over, on this thread, when a line is complete.
    private enum Typed: Sendable {
        case line([UInt8])
        case end
    }
    private static let typed = Mutex<Typed?>(nil)
    /// The character that libedit is to get next.
    private static let next = Mutex<UInt32?>(nil)

    private let history: String

    /// - Parameter history: the file that keeps what was typed.
    init(history: String) {
        self.history = history
        // libedit reads wide characters as the locale says. A locale of another encoding would garble them.
        let locale = setlocale(LC_CTYPE, "").map { String(cString: $0).lowercased() } ?? ""
        if !locale.contains("utf-8") && !locale.contains("utf8") { setlocale(LC_CTYPE, "C.UTF-8") }
        cedit_configure { _ in
            if let character = LineEditor.next.withLock({ $0.take() }) { return Int32(bitPattern: character) }
            // The rest of what a key sends.
            return LineEditor.character().map { Int32(bitPattern: $0) } ?? -1
        }
        rl_initialize()
        cedit_keep_line_buffer()
        // A count before a key inserts a character any number of times.
        for digit in 0...9 { rl_parse_and_bind("bind ^[\(digit) ed-ignore") }
        using_history()
        stifle_history(LineEditor.kept)
        _ = mkdir(String(history.prefix(upTo: history.lastIndex(of: "/") ?? history.endIndex)), 0o700)
        LineEditor.shorten(history)
        read_history(history)
    }

    /// The next line; nil at the end, which Ctrl-D on an empty line is.
    /// - Parameters:
    ///   - prompt: shown before it.
    ///   - wakeUp: whenever this can be read from, `interruption` is called and the line shown again.
    ///   - interruption: writes to the terminal.
    /// - Returns: the line; a failure when it is not UTF-8.
    func line(_ prompt: String, wakeUp: Int32, interruption: () -> Void) -> Result<String?, UsageError> {
        install(prompt)
        defer { rl_callback_handler_remove() }
        var gate = LineGate()
        // Until the first key libedit tells the length of the line before.
        var isFresh = true
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
            guard let character = LineEditor.character() else { return .success(nil) }
            switch gate.judge(character, length: isFresh ? 0 : Int(cedit_length())) {
            case .pass: break
            case .ignore: continue
            case .refuse(let isFirst):
                guard isFirst else { continue }
                printError("\u{7}\n" + LineGate.full)
                rl_forced_update_display()
                continue
            }
            LineEditor.next.withLock { $0 = character }
            isFresh = false
            rl_callback_read_char()
            let typed = LineEditor.typed.withLock { typed in
                defer { typed = nil }
                return typed
            }
            switch typed {
            case .line where gate.refused > 0:
                // Half of what somebody pasted is not what they wanted to ask.
                printError(gate.words)
                rl_callback_handler_remove()
                install(prompt)
                gate = LineGate(after: gate)
                isFresh = true
            case .line(let bytes): return taken(bytes)
            case .end: return .success(nil)
            case nil: break
            }
        }
    }

    private func install(_ prompt: String) {
        rl_callback_handler_install(prompt) { bytes in
            let line = bytes.map { Typed.line(Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))) }
            free(bytes)
            LineEditor.typed.withLock { $0 = line ?? .end }
        }
    }

    /// The next character of the terminal, as a code point; nil at the end. What is no UTF-8 is U+FFFD.
    private static func character() -> UInt32? {
        guard let first = byte() else { return nil }
        let (count, bits): (Int, UInt8) =
            switch first {
            case 0..<0x80: (0, first)
            case 0xc2..<0xe0: (1, first & 0x1f)
            case 0xe0..<0xf0: (2, first & 0x0f)
            case 0xf0..<0xf5: (3, first & 0x07)
            default: (-1, 0)
            }
        guard count >= 0 else { return 0xfffd }
        var value = UInt32(bits)
        for _ in 0..<count {
            guard let next = byte() else { return nil }
            guard next & 0xc0 == 0x80 else { return 0xfffd }
            value = value << 6 | UInt32(next & 0x3f)
        }
        return UnicodeScalar(value) == nil ? 0xfffd : value
    }

    private static func byte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(0, &byte, 1)
            if count == 1 { return byte }
            guard count < 0 && errno == EINTR else { return nil }
        }
    }

    /// Takes lines out of a file of history that no line may be as long as: an earlier version kept them.
    private static func shorten(_ path: String) {
        guard let file = fopen(path, "re") else { return }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        let isWhole = ferror(file) == 0
        fclose(file)
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        let kept = lines.filter { LineGate.length(ofKept: $0) <= LineGate.limit }
        guard isWhole, kept.count < lines.count else { return }
        let mask = umask(0o077)
        defer { umask(mask) }
        let new = path + ".new"
        guard let file = fopen(new, "we") else { return }
        let text = Array(kept.joined(separator: [10]))
        let count = fwrite(text, 1, text.count, file)
        guard fclose(file) == 0, count == text.count else { return }
        rename(new, path)
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
