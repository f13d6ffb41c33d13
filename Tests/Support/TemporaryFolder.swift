internal import CLinux
internal import Glibc
internal import Synchronization

/// A folder that is removed with everything in it when the test ends.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() throws {
        var template = Array("/tmp/skillbus-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SpawnError(code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = clinux_remove_tree(path) }

    public func file(_ name: String) -> String { "\(path)/\(name)" }

    public func write(_ name: String, _ text: String) throws {
        // No child may inherit it.
        guard let file = fopen(self.file(name), "we") else { throw SpawnError(code: errno) }
        fputs(text, file)
        fclose(file)
    }

    /// Writes a program. The kernel refuses to run a file that any process has open for writing, and between its fork
    /// and its exec a child has all that this process has: so none is started meanwhile.
    public func writeProgram(_ name: String, _ text: String) throws {
        try starting.withLock { _ in try write(name, text) }
        chmod(file(name), 0o755)
    }
}

/// Looks again and again, a hundred times a second, until the condition holds or the time is up. For conditions of
/// other processes that give no sign; where something can be awaited, await it.
public func eventually(
    within limit: Duration = .seconds(20),
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if try await condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return try await condition()
}
