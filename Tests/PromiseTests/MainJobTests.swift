import FoundationEssentials
import TestSupport
import Testing
import Wire

/// The main job, through the real executables.
@Suite(.serialized) struct MainJobTests {
    @Test(.timeLimit(.minutes(2))) func twoSkillsRunAtOnceAndEndAsOne() async throws {
        let system = try await RunningSystem()
        let article = "\(projectFolder)/docs/samples/article-zh.txt"
        let answer = try await system.skillbus("ask", "--json", "--file", article, "帮我总结这篇文章并提取关键词")
        #expect(answer.code == 0)
        let events = try RunningSystem.events(answer.output.split(separator: "\n").map(String.init))
        expectWellFormed(events)
        #expect(events.prefix(2).map(\.type) == ["request.accepted", "request.plan"])
        #expect(events[1].data["mode"] == "parallel")
        let started = events.filter { $0.type == "job.started" }
        #expect(Set(started.compactMap(\.skill)) == ["summarize", "keywords"])
        // Both had begun before either had ended.
        let firstEnd = try #require(events.firstIndex { $0.type == "job.finished" })
        #expect(events[..<firstEnd].filter { $0.type == "job.started" }.count == 2)
        #expect(events.contains { $0.type == "job.progress" })
        let output = try #require(events.last?.data["output"])
        let points = output["parts"]?.array?.filter { $0["kind"] == "point" } ?? []
        #expect((1...5).contains(points.count))
        #expect(points.allSatisfy { ($0["text"]?.string?.count ?? 99) <= 50 })
        #expect(output["parts"]?.array?.contains { $0["kind"] == "keyword" } == true)
        // The deltas of each job join to its output.
        for job in Set(started.compactMap(\.job)) {
            let own = events.filter { $0.job == job }
            let streamed = own.compactMap { $0.type == "job.delta" ? $0.data["text"]?.string : nil }.joined()
            #expect(streamed == own.last { $0.type == "job.finished" }?.data["output"]?["text"]?.string)
        }

        let sum = try await system.skillbus("ask", "what is 0.1 + 0.2, to 30 places")
        #expect(sum.code == 0)
        #expect(sum.output.contains("0.3"))
        #expect(!sum.output.contains("0.30000000000000004"))

        let piped = try await system.skillbus(
            "ask",
            "-",
            input: "Summarise this: Cats sleep a lot. They sleep up to sixteen hours a day, studies say. Dogs do not."
        )
        #expect(piped.code == 0)
        #expect(piped.output.lowercased().contains("sleep"))
        #expect(await system.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2))) func badInputIsAnsweredAndDisturbsNothing() async throws {
        let system = try await RunningSystem()
        #expect(try await system.skillbus("ask", "--skill", "no-such-skill", "hello").code == 1)
        #expect(try await system.skillbus("ask", "--skill", "no-such-skill", "hello").error.contains("no-such-skill"))
        #expect(try await system.skillbus("ask", "").code == 2)
        #expect(try await system.skillbus("asj", "x").code == 2)
        #expect(try await system.skillbus("ask", "--no-such-option", "x").code == 2)
        let wrong = try await system.skillbus(
            "ask",
            "--skill",
            "summarize",
            "--arguments",
            #"{"points":"three"}"#,
            "A text. It has sentences."
        )
        #expect(wrong.code == 1)
        #expect(wrong.error.contains("points"))
        #expect(try await system.skillbus("resume", "01890000-0000-7000-8000-000000000000").code == 1)
        let session = try await system.curl(
            "-X",
            "POST",
            "-H",
            "Content-Type: application/json",
            "-d",
            "{}",
            path: "/v1/sessions"
        )
        let id = try #require(try JSONBody.decode(JSONValue.self, from: Array(session.utf8))["id"]?.string)
        let events = "/v1/sessions/\(id)/events"
        #expect(try await system.curl("-m", "2", "-H", "Last-Event-ID: -4", path: events).contains("400"))
        #expect(try await system.curl("-m", "2", "-H", "Last-Event-ID: x", path: events).contains("400"))
        #expect(try await system.curl("-m", "2", path: "/v1/sessions/none/events").contains("404"))
        #expect(try await system.skillbus("ask", "2+2").output.contains("4"))
    }

    @Test(.timeLimit(.minutes(2))) func withoutAGatewayTheExitCodeIsThree() async throws {
        let answer = try await run(
            "\(products)/skillbus",
            ["ask", "hello"],
            environment: ["SKILLBUS_URL": "http://127.0.0.1:9"]
        )
        #expect(answer.code == 3)
        #expect(answer.error.contains("skillbus up"))
    }
}
