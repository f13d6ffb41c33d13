import FoundationEssentials
import Glibc
import TestSupport
import Testing
import Wire

/// Processes that die in the middle of a job, and clients that go away.
@Suite(.serialized) struct FaultTests {
    /// A text that a summary takes seconds for.
    private func longText(_ folder: TemporaryFolder) throws -> String {
        let article = try String(
            contentsOf: URL(filePath: "\(projectFolder)/docs/samples/article-en.md"),
            encoding: .utf8
        )
        let count = 6_000_000 / article.utf8.count
        let text = (0..<count).map { "Part \($0). \(article)" }.joined(separator: "\n\n")
        try text.write(toFile: folder.file("long.txt"), atomically: true, encoding: .utf8)
        return folder.file("long.txt")
    }

    private func killDuringJob(_ service: String, of system: RunningSystem) async throws -> [SessionEvent] {
        let file = try longText(system.folder)
        let ask = try system.start("ask", "--json", "--skill", "summarize", "--file", file, "summarise")
        let begun = await ask.line(of: .output) { $0.contains("job.progress") }
        #expect(begun != nil)
        kill(try system.pid(service), SIGKILL)
        #expect(await ask.exitCode() == 0, "\(ask.errorOutput)")
        return try RunningSystem.events(ask.lines(of: .output))
    }

    @Test(.timeLimit(.minutes(3))) func aWorkerKilledInMidJobIsRetriedAndAnswersOnce() async throws {
        let system = try await RunningSystem()
        let events = try await killDuringJob("summarize", of: system)
        expectWellFormed(events)
        #expect(events.filter { $0.type == "job.retrying" }.count == 1)
        #expect(events.filter { $0.type == "job.finished" }.count == 1)
        #expect(events.last?.type == "request.finished")
        // Nothing of the first attempt comes after the second has begun.
        let second = try #require(events.firstIndex { $0.attempt == 2 })
        #expect(events[second...].allSatisfy { $0.attempt == nil || $0.attempt == 2 })
    }

    @Test(.timeLimit(.minutes(3))) func aRouterKilledInMidJobLosesNothing() async throws {
        let system = try await RunningSystem()
        let events = try await killDuringJob("router", of: system)
        expectWellFormed(events)
        #expect(events.last?.type == "request.finished")
    }

    @Test(.timeLimit(.minutes(3))) func aGatewayKilledInMidJobLosesNothing() async throws {
        let system = try await RunningSystem()
        let events = try await killDuringJob("gateway", of: system)
        expectWellFormed(events)
        #expect(events.last?.type == "request.finished")
        // The router has it still, so what runs goes on.
        #expect(!events.contains { $0.type == "job.retrying" || ($0.attempt ?? 1) > 1 })
    }

    @Test(.timeLimit(.minutes(3))) func aClientThatResumesGetsEachEventOnce() async throws {
        let system = try await RunningSystem()
        let article = "\(projectFolder)/docs/samples/article-en.md"
        let answer = try await system.skillbus("ask", "--json", "--file", article, "summarise and extract keywords")
        let all = try RunningSystem.events(answer.output.split(separator: "\n").map(String.init))
        let session = try #require(all.first?.session)
        let whole = try RunningSystem.events(
            sse: try await system.curl("-m", "1", path: "/v1/sessions/\(session)/events")
        )
        expectWellFormed(whole)
        #expect(whole == all)
        for cut in [1, all.count / 2, all.count - 1] {
            let rest = try RunningSystem.events(
                sse: try await system.curl(
                    "-m",
                    "1",
                    "-H",
                    "Last-Event-ID: \(cut)",
                    path: "/v1/sessions/\(session)/events"
                )
            )
            #expect(Array(whole[..<cut]) + rest == whole)
        }
    }

    @Test(.timeLimit(.minutes(3))) func killedOutrightUpTakesBusyServicesWithIt() async throws {
        let system = try await RunningSystem()
        let file = try longText(system.folder)
        let ask = try system.start("ask", "--json", "--skill", "summarize", "--file", file, "summarise")
        _ = await ask.line(of: .output) { $0.contains("job.progress") }
        let gateway = try system.pid("gateway")
        let others = try ["router", "summarize"].map(system.pid)
        // One that does not answer: a worker that drained as on SIGTERM would wait for its acknowledgement.
        kill(gateway, SIGSTOP)
        system.up.send(SIGKILL)
        #expect(await eventually(within: .seconds(15)) { others.allSatisfy { kill($0, 0) != 0 } })
        kill(gateway, SIGCONT)
        #expect(await eventually(within: .seconds(15)) { kill(gateway, 0) != 0 })
    }

    @Test(.timeLimit(.minutes(3))) func drainingFinishesWhatRuns() async throws {
        let system = try await RunningSystem()
        let file = try longText(system.folder)
        let ask = try system.start("ask", "--json", "--skill", "summarize", "--file", file, "summarise")
        _ = await ask.line(of: .output) { $0.contains("job.progress") }
        kill(try system.pid("summarize"), SIGTERM)
        #expect(await ask.exitCode() == 0)
        let events = try RunningSystem.events(ask.lines(of: .output))
        expectWellFormed(events)
        #expect(!events.contains { $0.type == "job.retrying" })
        #expect(await system.stop() == 0)
    }
}
