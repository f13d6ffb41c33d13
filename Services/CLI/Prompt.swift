internal import Glibc
internal import Lifecycle
internal import Synchronization

/// Lines that a person types, with editing and history; or lines of a file or pipe.
///
/// Reading blocks, so it has a thread of its own. That thread alone calls the editor: others leave it an order.
final class Prompt: Sendable {
    private enum Order: Sendable {
        case read(String, CheckedContinuation<Result<String?, UsageError>, Never>)
        case say(String)
    }
    private let orders = Orders<Order>()
    private let settings: TerminalSettings?

    /// - Parameter history: the file for the history; nil when nobody types.
    init(_ history: String?) {
        settings = history.flatMap { _ in TerminalSettings(of: 0) }
        startThread(named: "prompt") { [orders] in
            let editor = history.map { LineEditor(history: $0) }
            var pending: [UInt8] = []
            while true {
                switch orders.take() {
                case .say(let text): printError(text)
                case .read(let prompt, let continuation):
                    let line =
                        if let editor {
                            editor.line(prompt, wakeUp: orders.descriptor) {
                                // Nobody asks for a second line while the first is being typed.
                                if case .say(let text) = orders.take() { printError("\n" + text) }
                            }
                        } else {
                            Prompt.plainLine(&pending)
                        }
                    continuation.resume(returning: line)
                }
            }
        }
    }

    /// The next line; nil at the end.
    func next(_ prompt: String) async throws(UsageError) -> String? {
        let result = await withCheckedContinuation { orders.put(.read(prompt, $0)) }
        return try result.get()
    }

    /// Says something on a line of its own, and shows the prompt with what has been typed again.
    func say(_ text: String) { orders.put(.say(text)) }

    /// Gives the terminal back as it was; for leaving while a line is being typed.
    func restoreTerminal() { settings?.restore() }

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

/// What a thread is to do, in order. It can wait for the next in `poll`, beside other descriptors.
private final class Orders<Order: Sendable>: Sendable {
    private let waiting = Mutex<[Order]>([])
    private let ends: [Int32]

    init() {
        var ends: [Int32] = [-1, -1]
        let failure = pipe(&ends)
        precondition(failure == 0, "pipe: errno \(errno)")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.ends = ends
    }

    /// Can be read from as long as an order waits.
    var descriptor: Int32 { ends[0] }

    func put(_ order: Order) {
        waiting.withLock { $0.append(order) }
        var byte: UInt8 = 1
        _ = write(ends[1], &byte, 1)
    }

    /// The next order; waits for one.
    func take() -> Order {
        while true {
            var byte: UInt8 = 0
            _ = read(ends[0], &byte, 1)
            if let order = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return order }
        }
    }
}

/// How a terminal was when the program began.
private struct TerminalSettings: Sendable {
    private let descriptor: Int32
    private let settings: termios

    init?(of descriptor: Int32) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return nil }
        self.descriptor = descriptor
        self.settings = settings
    }

    func restore() {
        var settings = settings
        tcsetattr(descriptor, TCSADRAIN, &settings)
    }
}
