import Foundation
import Synchronization
import TestSupport
import Testing
import Wire

@testable import LLM

/// The client against servers that fail in every way that servers do.
@Suite(.timeLimit(.minutes(2))) struct ClientTests {
    private func quick() -> LLMTimeouts {
        var timeouts = LLMTimeouts()
        timeouts.firstToken = 0.3
        timeouts.idle = 0.3
        return timeouts
    }

    // MARK: trying again

    @Test func aBusyEndpointIsAskedAgainNotBeforeItSaid() async throws {
        let calls = Count()
        let times = Mutex<[ContinuousClock.Instant]>([])
        let server = try ScriptedServer { _, connection in
            times.withLock { $0.append(.now) }
            if calls.next() == 1 {
                connection.answer(429, #"{"error":{"message":"slow down"}}"#, headers: ["Retry-After: 0.4"])
            } else {
                connection.stream(Reply.text("ok"), Reply.stop, Reply.done)
            }
        }
        let retries = Mutex<[Retry]>([])
        let answer = try await LLMClient([try server.endpoint()]).answer(ChatRequest([ChatMessage(.user, "hi")])) {
            retry in
            retries.withLock { $0.append(retry) }
        }
        #expect(answer.text == "ok")
        let seen = times.withLock { $0 }
        try #require(seen.count == 2)
        #expect(seen[1] - seen[0] >= .milliseconds(400))
        let retry = try #require(retries.withLock { $0.first })
        #expect(retry.attempt == 2 && retry.error.cause == .rateLimit && retry.pause >= .milliseconds(400))
    }

    @Test func aWaitThatIsLongerThanTheTimeLeftIsNotBegun() async throws {
        let server = try ScriptedServer { _, connection in connection.answer(429, headers: ["Retry-After: 3600"]) }
        var request = ChatRequest([ChatMessage(.user, "hi")])
        request.deadline = .now + .seconds(20)
        let client = LLMClient([try server.endpoint()])
        let asked = request
        let error = await failure { () throws(LLMError) in _ = try await client.answer(asked) }
        #expect(error?.retryAfter == 3600 && error?.attempts == 1)
        #expect(server.requests.count == 1)
    }

    @Test func whatCannotSucceedIsNotTriedAgain() async throws {
        for (status, body) in [
            (401, "{}"), (400, "{}"), (429, #"{"error":{"code":"insufficient_quota","message":"quota"}}"#),
        ] {
            let server = try ScriptedServer { _, connection in connection.answer(status, body) }
            let client = LLMClient([try server.endpoint()])
            #expect(await failure { () throws(LLMError) in _ = try await client.say() }?.kind == .refused(status))
            #expect(server.requests.count == 1)
        }
    }

    @Test func nothingIsTriedAgainOnceSomethingWasStreamed() async throws {
        let server = try ScriptedServer { _, connection in connection.stream(Reply.text("half of")) }
        let client = LLMClient([try server.endpoint()])
        let error = await failure { () throws(LLMError) in _ = try await client.say() }
        #expect(error?.kind == .truncated && error?.partial?.text == "half of")
        #expect(server.requests.count == 1)
    }

    @Test func theNextEndpointTakesOverAtOnce() async throws {
        let first = try ScriptedServer { _, connection in connection.answer(401, #"{"error":{"message":"no"}}"#) }
        let second = try ScriptedServer { _, connection in connection.stream(Reply.text("yes"), Reply.stop, Reply.done)
        }
        let client = LLMClient([try first.endpoint("a"), try second.endpoint("b")])
        let answer = try await client.say()
        #expect(answer.text == "yes" && answer.model == "b")
        #expect(first.requests.count == 1)
    }

    @Test func aFieldThatAnEndpointDoesNotKnowIsLeftOutFromThenOn() async throws {
        let server = try ScriptedServer { request, connection in
            if String(decoding: request.body, as: UTF8.self).contains("stream_options") {
                connection.answer(422, #"{"detail":"Unexpected fields in the request: {'stream_options'}"}"#)
            } else {
                connection.stream(Reply.text("ok"), Reply.stop, Reply.done)
            }
        }
        let client = LLMClient([try server.endpoint()])
        #expect(try await client.say().text == "ok")
        #expect(try await client.say().text == "ok")
        #expect(server.requests.count == 3)
    }

    @Test func manyThatFailTogetherDoNotComeBackTogether() async throws {
        final class Pauses: Sendable { let list = Mutex<[Duration]>([]) }
        let pauses = Pauses()
        let calls = Count()
        let server = try ScriptedServer { _, connection in
            if calls.next() <= 40 {
                connection.answer(503)
            } else {
                connection.stream(Reply.text("ok"), Reply.stop, Reply.done)
            }
        }
        let client = LLMClient([try server.endpoint()], concurrency: 40)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    let request = ChatRequest([ChatMessage(.user, "hello")])
                    _ = try? await client.answer(request) { retry in
                        pauses.list.withLock { $0.append(retry.pause) }
                    }
                }
            }
        }
        // What they are told to wait, not when they are back: that is this machine's to say as well.
        let tenths = pauses.list.withLock { $0.map { Int($0 / .milliseconds(100)) } }
        #expect(tenths.count >= 40)
        let fullest = Dictionary(grouping: tenths) { $0 }.values.map(\.count).max() ?? 0
        #expect(Double(fullest) < 0.5 * Double(tenths.count), "\(tenths)")
    }

    // MARK: time

    @Test func anEndpointThatSaysNothingIsGivenUp() async throws {
        let server = try ScriptedServer { _, connection in connection.waitForClose() }
        let client = LLMClient([try server.endpoint()], timeouts: quick(), rounds: 1)
        let error = await failure { () throws(LLMError) in _ = try await client.say() }
        #expect(error?.kind == .timeout(.firstToken))
        #expect(error?.message.contains("0.3 s") == true)
    }

    @Test func signsOfLifeAreNoAnswer() async throws {
        let server = try ScriptedServer { _, connection in
            connection.startStream()
            while connection.send(": keep-alive\n\n") { usleep(20_000) }
        }
        let client = LLMClient([try server.endpoint()], timeouts: quick(), rounds: 1)
        #expect(await failure { () throws(LLMError) in _ = try await client.say() }?.kind == .timeout(.firstToken))
    }

    @Test func anEndpointThatFallsSilentIsGivenUp() async throws {
        let server = try ScriptedServer { _, connection in
            connection.stream(Reply.text("half"))
            connection.waitForClose()
        }
        let client = LLMClient([try server.endpoint()], timeouts: quick())
        let error = await failure { () throws(LLMError) in _ = try await client.say() }
        #expect(error?.kind == .timeout(.idle) && error?.partial?.text == "half")
        #expect(server.requests.count == 1)
    }

    @Test func aWholeAnswerNeedsNoGoodbye() async throws {
        let server = try ScriptedServer { _, connection in
            connection.stream(Reply.text("all"), Reply.stop)
            connection.waitForClose()
        }
        #expect(try await LLMClient([try server.endpoint()]).say().text == "all")
    }

    @Test func theWholeHasALimitToo() async throws {
        let server = try ScriptedServer { _, connection in
            connection.startStream()
            while connection.send(Reply.text("on and on ")) { usleep(10_000) }
        }
        var timeouts = LLMTimeouts()
        timeouts.total = 0.5
        let client = LLMClient([try server.endpoint()], timeouts: timeouts)
        #expect(await failure { () throws(LLMError) in _ = try await client.say() }?.kind == .timeout(.total))
    }

    /// On a connection that has served before, the time to connect is none; that is not "no connection".
    @Test func aUsedConnectionThatHangsIsNoMissingConnection() async throws {
        // All tests of this process share the connections that are kept, of which the oldest go when there are many: the
        // one of a test that has to wait for its turn may be gone.
        for _ in 0..<10 {
            let server = try KeptConnection(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"data\":[]}"])
            var timeouts = LLMTimeouts()
            timeouts.total = 1
            let client = LLMClient(
                [try Endpoint(url: "http://127.0.0.1:\(server.port)/v1", model: "m")],
                timeouts: timeouts,
                rounds: 1
            )
            #expect(try await client.models() == [])
            let error = await failure { () throws(LLMError) in _ = try await client.models() }
            #expect(error?.kind == .timeout(.total), "\(String(describing: error))")
            if server.connections == 1 { return }
        }
        Issue.record("no connection was used twice")
    }

    // MARK: cancelling

    @Test func cancellingClosesTheConnectionAtOnce() async throws {
        let closed = Count()
        let server = try ScriptedServer { _, connection in
            connection.stream(Reply.text("first"))
            connection.waitForClose()
            closed.next()
        }
        let client = LLMClient([try server.endpoint()])
        let received = Count()
        let task = Task { () -> Bool in
            do {
                for try await event in client.stream(ChatRequest([ChatMessage(.user, "hi")])) {
                    if case .text = event { received.next() }
                }
                return false
            } catch { return (error as? LLMError)?.kind == .cancelled }
        }
        #expect(await eventually { received.value == 1 })
        task.cancel()
        #expect(await task.value)
        // The server goes on as long as the connection does, and the client is still there: nothing else closes it.
        #expect(await eventually { closed.value == 1 })
        withExtendedLifetime(client) {}
    }

    @Test func aStreamThatNobodyReadsAnyMoreIsClosed() async throws {
        let closed = Count()
        let server = try ScriptedServer { _, connection in
            connection.stream(Reply.text("first"))
            connection.waitForClose()
            closed.next()
        }
        let client = LLMClient([try server.endpoint()])
        for try await event in client.stream(ChatRequest([ChatMessage(.user, "hi")])) {
            if case .text = event { break }
        }
        #expect(await eventually { closed.value == 1 })
    }

    @Test func cancellingEndsAWaitForAnotherTry() async throws {
        let server = try ScriptedServer { _, connection in connection.answer(503, headers: ["Retry-After: 300"]) }
        let client = LLMClient([try server.endpoint()])
        let retried = Count()
        let task = Task {
            await failure { () throws(LLMError) in
                _ = try await client.answer(ChatRequest([ChatMessage(.user, "hi")])) { _ in retried.next() }
            }
        }
        #expect(await eventually { retried.value == 1 })
        task.cancel()
        #expect(await task.value?.kind == .cancelled)
    }

    @Test func placesAreGivenBackHoweverACallEnds() async throws {
        let calls = Count()
        let server = try ScriptedServer { _, connection in
            if calls.next() % 2 == 0 {
                connection.stream(Reply.text("ok"), Reply.stop, Reply.done)
            } else {
                connection.waitForClose()
            }
        }
        let client = LLMClient([try server.endpoint()], concurrency: 1)
        for _ in 0..<3 {
            let before = calls.value
            let hanging = Task { try? await client.say() }
            #expect(await eventually { calls.value == before + 1 })
            let waiting = Task { try? await client.say() }
            waiting.cancel()
            #expect(await waiting.value == nil)
            hanging.cancel()
            #expect(await hanging.value == nil)
            #expect(try await client.say().text == "ok")
        }
    }

    // MARK: what is counted

    @Test func tokensAreCountedAndTakenFromTheBudget() async throws {
        let server = try ScriptedServer { _, connection in
            connection.stream(
                Reply.text("ok"),
                Reply.stop,
                Reply.event(#"{"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":20,"total_tokens":50}}"#),
                Reply.done
            )
        }
        let client = LLMClient([try server.endpoint()])
        var request = ChatRequest([ChatMessage(.user, "hi")])
        let budget = TokenBudget(60)
        request.budget = budget
        let answer = try await client.answer(request)
        #expect(answer.usage == Usage(prompt: 30, completion: 20) && budget.remaining == 10)
        let body = try JSONBody.decode(JSONValue.self, from: try #require(server.requests.first).body)
        #expect(body["max_tokens"]?.integer.map { $0 < 60 } == true)
        let again = request
        _ = try await client.answer(again)
        #expect(budget.remaining == 0)
        #expect(await failure { () throws(LLMError) in _ = try await client.answer(again) }?.kind == .budget)
        #expect(server.requests.count == 2)
    }

    @Test func anEndpointThatCountsNothingIsGuessedAt() async throws {
        let server = try ScriptedServer { _, connection in
            connection.stream(Reply.text("你好，世界"), Reply.stop, Reply.done)
        }
        let usage = try await LLMClient([try server.endpoint()]).say("one two three four").usage
        #expect(usage.isEstimate && usage.completion == 5 && 4...12 ~= usage.prompt)
    }

    // MARK: other functions

    @Test func modelsAndEmbeddings() async throws {
        let server = try ScriptedServer { request, connection in
            switch request.path {
            case "/v1/models": connection.answer(200, #"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#)
            case "/v1/embeddings":
                connection.answer(
                    200,
                    #"{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}],"usage":{"prompt_tokens":2}}"#
                )
            default: connection.answer(404)
            }
        }
        let client = LLMClient([try server.endpoint()])
        #expect(try await client.models() == ["a", "b"])
        #expect(try await client.embeddings(of: ["x", "y"]) == [[1, 0], [0, 1]])
        let three = await failure { () throws(LLMError) in _ = try await client.embeddings(of: ["x", "y", "z"]) }
        #expect(three?.kind == .badResponse)
    }
}
