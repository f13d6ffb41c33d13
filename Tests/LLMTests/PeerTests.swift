import Foundation
import Testing
import Wire

@testable import LLM

/// A real server with a real, tiny model, as Tests/LLM/peer.sh starts it in one of its modes. What the model says makes little
/// sense: only its form is looked at.
private enum Peer {
    private static let variables = ProcessInfo.processInfo.environment

    /// Whether it runs in that mode.
    static func isThere(_ mode: String) -> Bool {
        variables["SKILLBUS_LLM_PEER_URL"] != nil && variables["SKILLBUS_LLM_PEER_MODE"] == mode
    }

    static func client() throws -> LLMClient {
        LLMClient([try Endpoint(url: try #require(variables["SKILLBUS_LLM_PEER_URL"]), model: "smollm2")])
    }

    static func request(_ text: String) -> ChatRequest {
        var request = ChatRequest([ChatMessage(.user, text)])
        request.temperature = 0
        request.maxTokens = 48
        return request
    }
}

/// The client and a server whose template has only text: under one with tools the server takes text for a broken call.
@Suite(
    .enabled(if: Peer.isThere("plain"), "no llama-server: make test-llm starts one"),
    .serialized,
    .timeLimit(.minutes(5))
)
struct PeerTests {
    @Test func aStreamIsTheAnswerPieceByPiece() async throws {
        var text = ""
        var pieces = 0
        var whole: ChatAnswer?
        for try await event in try Peer.client().stream(Peer.request("Say hello to the miller.")) {
            switch event {
            case .text(let piece):
                text += piece
                pieces += 1
            case .finished(let answer): whole = answer
            case .thinking, .retrying: break
            }
        }
        #expect(pieces > 1 && !text.isEmpty)
        let answer = try #require(whole)
        #expect(answer.text == text && answer.finishReason != nil)
        // The server has counted, the rules of its template with it.
        #expect(!answer.usage.isEstimate && answer.usage.prompt > 5 && (1...48).contains(answer.usage.completion))
    }

    @Test func anAnswerKeepsToItsSchema() async throws {
        var request = Peer.request("Is a mill a building? Answer with one word.")
        request.schema = [
            "type": "object", "properties": ["answer": ["type": "string", "enum": ["yes", "no"]]],
            "required": ["answer"], "additionalProperties": false,
        ]
        let answer = try await Peer.client().answer(request)
        #expect(!answer.isCutByLength)
        let read = try JSONBody.decode(JSONValue.self, from: Array(answer.text.utf8))
        #expect(["yes", "no"].contains(read["answer"]?.string))
    }

    @Test func moreThanItCanReadIsToldApart() async throws {
        let long = Peer.request(String(repeating: "The river rose and the mill stood still. ", count: 600))
        let error = await #expect(throws: LLMError.self) { _ = try await Peer.client().answer(long) }
        #expect(error?.cause == .contextOverflow)
    }
}

/// The client and a server whose template has tools.
@Suite(
    .enabled(if: Peer.isThere("tools"), "no llama-server: make test-llm starts one"),
    .serialized,
    .timeLimit(.minutes(5))
)
struct PeerToolTests {
    @Test(arguments: [true, false]) func aToolIsCalledAsItsSchemaSays(isStreamed: Bool) async throws {
        var request = Peer.request("What is the weather in Paris?")
        request.isStreamed = isStreamed
        let parameters: JSONValue = [
            "type": "object", "properties": ["city": ["type": "string", "enum": ["Paris", "Rome"]]],
            "required": ["city"], "additionalProperties": false,
        ]
        request.tools = [ChatTool(name: "weather", description: "The weather in a city", parameters: parameters)]
        request.toolChoice = .required
        let answer = try await Peer.client().answer(request)
        let call = try #require(answer.toolCalls.first)
        #expect(call.name == "weather" && !call.id.isEmpty && call.isComplete)
        let arguments = try JSONBody.decode(JSONValue.self, from: Array(call.arguments.utf8))
        #expect(["Paris", "Rome"].contains(arguments["city"]?.string))
    }
}
