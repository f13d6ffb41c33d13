internal import CLinux
internal import Glibc

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
        guard let file = fopen(self.file(name), "w") else { throw SpawnError(code: errno) }
        fputs(text, file)
        fclose(file)
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
