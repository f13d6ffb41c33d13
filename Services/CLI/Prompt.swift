internal import CEdit
internal import Glibc
internal import Lifecycle
internal import Synchronization

/// Lines that a person types, with editing and history by libedit; or lines of a file or pipe.
///
/// Reading blocks, so it has a thread of its own, which is also the only one that calls libedit; except to put the
/// terminal right when the program is left in the middle of a line.
final class Prompt: Sendable {
    private struct Request {
        var prompt: String
        var continuation: CheckedContinuation<Result<String?, UsageError>, Never>
    }
    private let waiting = Waiting()
    private let history: String?
    /// Lines of the history that are kept.
    private static let kept: Int32 = 1000

    /// - Parameter history: the file for the history; nil when nobody types.
    init(_ history: String?) {
        self.history = history
        startThread(named: "prompt") { [waiting] in
            if let history { Prompt.begin(history) }
            var pending: [UInt8] = []
            while true {
                let request = waiting.take()
                let line =
                    if let history { Prompt.editedLine(request.prompt, history) } else { Prompt.plainLine(&pending) }
                request.continuation.resume(returning: line)
            }
        }
    }

    /// The next line; nil at the end.
    func next(_ prompt: String) async throws(UsageError) -> String? {
        let result = await withCheckedContinuation { continuation in
            waiting.put(Request(prompt: prompt, continuation: continuation))
        }
        return try result.get()
    }

    /// Gives the terminal back as it was; for leaving while a line is being typed.
    func restoreTerminal() {
        if history != nil { rl_deprep_terminal() }
    }

    /// Shows the prompt and what has been typed again.
    func redraw() {
        if history != nil { rl_forced_update_display() }
    }

    /// Hands requests to the thread.
    private final class Waiting: Sendable {
        private let state = Mutex<[Request]>([])
        private let ends: [Int32]

        init() {
            var ends: [Int32] = [-1, -1]
            let failure = pipe(&ends)
            precondition(failure == 0, "pipe: errno \(errno)")
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            self.ends = ends
        }

        func put(_ request: Request) {
            state.withLock { $0.append(request) }
            var byte: UInt8 = 1
            _ = write(ends[1], &byte, 1)
        }

        func take() -> Request {
            while true {
                var byte: UInt8 = 0
                _ = read(ends[0], &byte, 1)
                if let request = state.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return request }
            }
        }
    }
}

// On the prompt's thread.
extension Prompt {
    private static func begin(_ history: String) {
        // libedit reads wide characters as the locale says. A locale of another encoding would garble them.
        let locale = setlocale(LC_CTYPE, "").map { String(cString: $0).lowercased() } ?? ""
        if !locale.contains("utf-8") && !locale.contains("utf8") { setlocale(LC_CTYPE, "C.UTF-8") }
        cedit_set_name()
        rl_initialize()
        using_history()
        stifle_history(kept)
        _ = mkdir(String(history.prefix(upTo: history.lastIndex(of: "/") ?? history.endIndex)), 0o700)
        read_history(history)
    }

    private static func editedLine(_ prompt: String, _ history: String) -> Result<String?, UsageError> {
        guard let typed = readline(prompt) else { return .success(nil) }
        defer { free(typed) }
        guard let line = String(validatingCString: typed) else {
            return .failure(UsageError("the line is not valid UTF-8: set the terminal to UTF-8"))
        }
        if line.contains(where: { !$0.isWhitespace }) {
            add_history(typed)
            // What was asked is for the user's eyes only.
            let mask = umask(0o077)
            write_history(history)
            umask(mask)
        }
        return .success(line)
    }

    private static func plainLine(_ pending: inout [UInt8]) -> Result<String?, UsageError> {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = pending.firstIndex(of: 10) {
                let line = Array(pending[..<end])
                pending.removeSubrange(...end)
                return text(line)
            }
            let count = read(0, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 {
                defer { pending = [] }
                return pending.isEmpty ? .success(nil) : text(pending)
            }
            pending.append(contentsOf: buffer[..<count])
        }
    }

    private static func text(_ bytes: [UInt8]) -> Result<String?, UsageError> {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .failure(UsageError("standard input is not valid UTF-8"))
        }
        return .success(text)
    }
}
