internal import CLinux
internal import Glibc

/// The text of PDF files, through `pdftotext` of Poppler, in a process of its own: the files come from anywhere.
enum PDFText {
    /// Seconds that a file may take.
    private static let limit = 60

    static func read(_ path: String) throws(DocumentFile.Unreadable) -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { throw .init(reason: String(cString: strerror(errno))) }
        defer { close(ends[0]) }
        let process: Int32
        do {
            defer { close(ends[1]) }
            process = try start(path, output: ends[1])
        }
        var status: Int32 = 0
        let bytes = collect(ends[0])
        if bytes == nil { kill(process, SIGKILL) }
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        guard let bytes else { throw .init(reason: "pdftotext took longer than \(limit) seconds, or wrote too much") }
        guard status == 0 else { throw .init(reason: "pdftotext cannot read it") }
        guard bytes.contains(where: { $0 > 0x20 }) else { throw .init(reason: "it has no text, only pictures") }
        return bytes
    }

    private static func start(_ path: String, output: Int32) throws(DocumentFile.Unreadable) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let arguments: [String] = ["pdftotext", "-q", "-enc", "UTF-8", "-nopgbrk", path, "-"]
        let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        defer { words.forEach { free($0) } }
        var process: Int32 = 0
        let failure = posix_spawnp(&process, "pdftotext", &actions, &attributes, words + [nil], clinux_environment())
        guard failure == 0 else {
            let reason =
                failure == ENOENT
                ? "pdftotext is not installed (package poppler-utils)" : String(cString: strerror(failure))
            throw .init(reason: reason)
        }
        return process
    }

    /// What the process writes, or nil when it takes too long or writes too much.
    private static func collect(_ descriptor: Int32) -> [UInt8]? {
        let end = ContinuousClock.now + .seconds(limit)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= DocumentFile.largest {
            let rest = end - .now
            guard rest > .zero else { return nil }
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, Int32(rest.components.seconds * 1000) + 1)
            if ready < 0 && errno != EINTR { return nil }
            guard ready > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                return nil
            }
            bytes += buffer[..<count]
        }
        return nil
    }
}
