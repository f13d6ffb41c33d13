import FoundationEssentials
import TestSupport
import Testing
import Wire

/// A whole system of its own, as `skillbus up` starts it: free ports, a folder of its own, ended with the test.
final class RunningSystem: Sendable {
    let url: String
    let folder: TemporaryFolder
    let up: ChildProcess
    private let readyFile: String

    init(_ arguments: [String] = []) async throws {
        folder = try TemporaryFolder()
        readyFile = folder.file("ready.json")
        up = try ChildProcess(
            "\(products)/skillbus",
            ["up", "--http", "127.0.0.1:0", "--state", folder.file("state"), "--ready-file", readyFile] + arguments,
            environment: ["SKILLBUS_URL": nil, "SKILLBUS_ROUTERS": nil]
        )
        let path = readyFile
        let isReady = await eventually(within: .seconds(60)) { FileManager.default.fileExists(atPath: path) }
        guard isReady else {
            Issue.record("not ready: \(up.lines)")
            throw CancellationError()
        }
        let ready = try JSONBody.decode(JSONValue.self, from: try Data(contentsOf: URL(filePath: path)))
        url = try #require(ready["url"]?.string)
    }

    var ready: JSONValue {
        get throws { try JSONBody.decode(JSONValue.self, from: try Data(contentsOf: URL(filePath: readyFile))) }
    }

    func pid(_ service: String) throws -> Int32 {
        let value = try ready["pids"]?[service]
        return Int32(try #require(value?.integer ?? value?.array?.first?.integer))
    }

    func skillbus(_ arguments: String..., input: String? = nil) async throws -> (
        code: Int32, output: String, error: String
    ) {
        try await run("\(products)/skillbus", arguments, environment: ["SKILLBUS_URL": url], input: input)
    }

    /// Starts `skillbus` and leaves it running.
    func start(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess("\(products)/skillbus", arguments, environment: ["SKILLBUS_URL": url])
    }

    /// Runs curl against the gateway.
    func curl(_ arguments: String..., path: String) async throws -> String {
        try await run("curl", ["-sS", "-N"] + arguments + [url + path]).output
    }

    func stop() async -> Int32 {
        up.send(15)
        return await up.exitCode()
    }

    static func events(_ lines: [String]) throws -> [SessionEvent] {
        try lines.filter { $0.hasPrefix("{") }.map { try JSONBody.decode(SessionEvent.self, from: Array($0.utf8)) }
    }

    /// The events of an answer in SSE form.
    static func events(sse text: String) throws -> [SessionEvent] {
        try events(
            text.split(separator: "\n").filter { $0.hasPrefix("data:") }.map {
                String($0.dropFirst(5).drop { $0 == " " })
            }
        )
    }
}

/// What must hold of every log: numbers without gap or repeat, and exactly one end of each request, with nothing after.
func expectWellFormed(_ events: [SessionEvent], from first: UInt64 = 1) {
    #expect(events.compactMap(\.seq) == (0..<UInt64(events.count)).map { $0 + first })
    for request in Set(events.compactMap(\.request)) {
        let own = events.filter { $0.request == request }
        #expect(own.filter(\.isTerminal).count == 1)
        #expect(own.last?.isTerminal == true)
    }
}
