import Foundation
import Synchronization
import TestSupport
import Testing
import Wire

@testable import LLM

/// Answers of servers as they are, byte for byte, through the client and a socket: see Tests/LLM/transcripts.
@Suite(.timeLimit(.minutes(2))) struct TranscriptTests {
    struct Transcript: Sendable, CustomTestStringConvertible {
        var file: String
        var isStreamed: Bool
        var expected: JSONValue
        var testDescription: String { file }
    }

    static let folder =
        "\(#filePath)".split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/LLM/transcripts"

    static let all: [Transcript] = {
        guard let bytes = FileManager.default.contents(atPath: folder + "/index.json"),
            let entries = try? JSONBody.decode(JSONValue.self, from: bytes).array
        else { return [] }
        return entries.compactMap { entry in
            // Those of other functions than chat have only a status to expect.
            guard let file = entry["file"]?.string, let expected = entry["expect"], expected["outcome"] != nil else {
                return nil
            }
            return Transcript(file: file, isStreamed: entry["stream"]?.bool ?? false, expected: expected)
        }
    }()

    @Test func theyAreThere() { #expect(Self.all.count > 130) }

    @Test(arguments: [0, 1, 7])
    func everyAnswerIsReadForWhatItIs(inWritesOf size: Int) async throws {
        let server = try ScriptedServer { request, connection in
            let stem = request.path.split(separator: "/").dropFirst().dropLast(2).joined(separator: "/")
            guard let bytes = FileManager.default.contents(atPath: Self.folder + "/" + stem) else { return }
            let content = Array(bytes)
            var position = 0
            while position < content.count {
                let end = size == 0 ? content.count : min(position + size, content.count)
                guard connection.send(Array(content[position..<end])) else { return }
                position = end
            }
        }
        await withTaskGroup(of: Void.self) { group in
            var waiting = Self.all[...]
            for _ in 0..<8 {
                if let first = waiting.popFirst() { group.addTask { await check(first, server) } }
            }
            while await group.next() != nil {
                if let first = waiting.popFirst() { group.addTask { await check(first, server) } }
            }
        }
    }

    private struct Outcome {
        var name: String
        var text = ""
        var thinking = ""
        var finishReason: String?
        var calls: [ToolCall] = []
        var usage: Usage?
        var error: LLMError?
    }

    private func outcome(_ transcript: Transcript, _ server: ScriptedServer) async throws -> Outcome {
        let endpoint = try Endpoint(url: "\(server.url)/t/\(transcript.file)", model: "m")
        var request = ChatRequest([ChatMessage(.user, "Say hello.")])
        request.isStreamed = transcript.isStreamed
        var text = ""
        var thinking = ""
        do throws(LLMError) {
            for try await event in LLMClient([endpoint], rounds: 1).stream(request) {
                switch event {
                case .text(let piece): text += piece
                case .thinking(let piece): thinking += piece
                case .retrying: Issue.record("\(transcript.file): tried again")
                case .finished(let answer):
                    #expect(answer.text == text && answer.thinking == thinking, "\(transcript.file)")
                    return Outcome(
                        name: "ok",
                        text: answer.text,
                        thinking: answer.thinking,
                        finishReason: answer.finishReason,
                        calls: answer.toolCalls,
                        usage: answer.usage
                    )
                }
            }
            return Outcome(name: "an end without a word")
        } catch {
            var name = "\(error.kind)"
            switch error.kind {
            case .refused: name = "http_error"
            case .stream: name = "stream_error"
            case .truncated: name = "truncated"
            case .badResponse: name = "protocol_error"
            default: break
            }
            #expect(error.partial?.text ?? "" == text, "\(transcript.file): the partial answer is what was streamed")
            return Outcome(
                name: name,
                text: text,
                thinking: thinking,
                calls: error.partial?.toolCalls ?? [],
                error: error
            )
        }
    }

    private func check(_ transcript: Transcript, _ server: ScriptedServer) async {
        let expected = transcript.expected
        guard let found = try? await outcome(transcript, server) else {
            Issue.record("\(transcript.file): no outcome")
            return
        }
        let file = transcript.file
        let wanted = expected["outcome"]?.string ?? ""
        if let accepted = expected["accept"]?.array {
            #expect(accepted.contains(.string(found.name)), "\(file): \(found.name)")
            if found.name != wanted { return }
        } else {
            #expect(found.name == wanted, "\(file): \(found.error.map { "\($0)" } ?? "")")
        }
        guard found.name == wanted else { return }
        if let text = expected["text"]?.string { #expect(found.text == text, "\(file)") }
        if let thinking = expected["reasoning"]?.string { #expect(found.thinking == thinking, "\(file)") }
        if wanted == "ok" {
            #expect(found.finishReason == expected["finish_reason"]?.string, "\(file)")
            if let usage = expected["usage"], usage != .null {
                #expect(found.usage?.isEstimate == false, "\(file)")
                #expect(found.usage?.prompt == usage["prompt_tokens"]?.integer.map { Int($0) }, "\(file)")
                #expect(found.usage?.completion == usage["completion_tokens"]?.integer.map { Int($0) }, "\(file)")
            } else {
                #expect(found.usage?.isEstimate == true, "\(file)")
            }
        }
        if let calls = expected["tool_calls"]?.array { check(calls, found.calls, file) }
        if let error = expected["error"] { check(error, found.error, file) }
    }

    private func check(_ expected: [JSONValue], _ found: [ToolCall], _ file: String) {
        #expect(found.count == expected.count, "\(file)")
        for (call, wanted) in zip(found, expected) {
            #expect(call.name == wanted["name"]?.string, "\(file)")
            if let id = wanted["id"]?.string, id != "*" {
                #expect(call.id == id, "\(file)")
            } else {
                #expect(!call.id.isEmpty)
            }
            #expect(call.isComplete == (wanted["complete"]?.bool ?? true), "\(file)")
            let arguments = wanted["arguments"]?.string ?? ""
            let isSame =
                call.arguments == arguments
                || (try? JSONBody.decode(JSONValue.self, from: call.arguments.utf8))
                    == (try? JSONBody.decode(JSONValue.self, from: arguments.utf8))
            #expect(isSame, "\(file): \(call.arguments)")
        }
    }

    private func check(_ expected: JSONValue, _ found: LLMError?, _ file: String) {
        guard let found else {
            Issue.record("\(file): no error")
            return
        }
        if let status = expected["status"]?.integer, status >= 400 {
            #expect(found.kind == .refused(Int(status)), "\(file)")
        }
        if let words = expected["message_has"]?.string {
            #expect(found.message.contains(words), "\(file): \(found.message)")
        }
        if let code = expected["code"] {
            #expect(found.code == code.string ?? code.integer.map(String.init), "\(file)")
        }
        if let type = expected["type"]?.string { #expect(found.type == type, "\(file)") }
        if expected["kind"]?.string == "context_overflow" { #expect(found.cause == .contextOverflow, "\(file)") }
        if let retryable = expected["retryable"]?.bool { #expect(found.isTransient == retryable, "\(file)") }
        if let seconds = expected["retry_after_s"]?.number { #expect(found.retryAfter == seconds, "\(file)") }
    }
}
