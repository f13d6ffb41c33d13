internal import Glibc
internal import Lifecycle
internal import Synchronization

/// What a service writes: a file in the state folder, and the last lines for when it fails.
final class ServiceLog: Sendable {
    /// Above this the file is put aside as `NAME.log.1`, and a new one begun.
    private static let longest = 16 << 20
    private static let kept = 8

    private struct State {
        var descriptor: Int32 = -1
        var size = 0
        var last: [String] = []
    }
    private let state = Mutex(State())
    let path: String
    private let name: String
    private let echoes: Bool

    /// - Parameters:
    ///   - name: of the service.
    ///   - folder: where the file is.
    ///   - echoes: whether lines go to standard error as well, after the name.
    init(_ name: String, in folder: String, echoes: Bool) {
        self.name = name
        self.echoes = echoes
        path = "\(folder)/\(name).log"
        state.withLock { open(&$0) }
    }

    deinit {
        let descriptor = state.withLock { $0.descriptor }
        if descriptor >= 0 { close(descriptor) }
    }

    func write(_ line: String) {
        state.withLock { state in
            state.last.append(line)
            if state.last.count > ServiceLog.kept { state.last.removeFirst() }
            var bytes = Array(line.utf8)
            bytes.append(10)
            if state.size + bytes.count > ServiceLog.longest {
                close(state.descriptor)
                rename(path, path + ".1")
                open(&state)
            }
            if state.descriptor >= 0, Glibc.write(state.descriptor, bytes, bytes.count) > 0 {
                state.size += bytes.count
            }
        }
        if echoes { printError("\(Terminal.padded(name, to: 12)) | \(Terminal.line(line))") }
    }

    /// The last lines.
    var last: [String] { state.withLock { $0.last } }

    private func open(_ state: inout State) {
        state.descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        state.size = state.descriptor < 0 ? 0 : max(0, Int(lseek(state.descriptor, 0, SEEK_END)))
    }
}
