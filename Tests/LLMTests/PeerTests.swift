import Foundation
import Testing
import Wire

@testable import LLM

/// Where it is.
private let peer = ProcessInfo.processInfo.environment["SKILLBUS_LLM_PEER_URL"]

/// The client and a real server with a real, tiny model (Tests/LLM/peer.sh). What it says makes little sense: only its form
/// is looked at.
@Suite(
    .enabled(if: peer != nil, "no llama-server: make test-llm starts one"),
    .serialized,
    .timeLimit(.minutes(5))
)
struct PeerTests {
    private func client() throws -> LLMClient {
        LLMClient([try Endpoint(url: try #require(peer), model: "smollm2")])
    }

    private func request(_ text: String) -> ChatRequest {
        var request = ChatRequest([ChatMessage(.user, text)])
        request.temperature = 0
        request.maxTokens = 48
        return request
    }

    @Test func aStreamIsTheAnswerPieceByPiece() async throws {
        var text = ""
        var pieces = 0
        for try await event in try client().stream(request("Say hello to the miller.")) {
            guard case .text(let piece) = event else { continue }
            text += piece
            pieces += 1
        }
        #expect(pieces > 1 && !text.isEmpty)
    }

    @Test(arguments: [true, false]) func aToolIsCalledAsItsSchemaSays(isStreamed: Bool) async throws {
        var request = request("What is the weather in Paris?")
        request.isStreamed = isStreamed
        let parameters: JSONValue = [
            "type": "object", "properties": ["city": ["type": "string", "enum": ["Paris", "Rome"]]],
            "required": ["city"], "additionalProperties": false,
        ]
        request.tools = [ChatTool(name: "weather", description: "The weather in a city", parameters: parameters)]
        request.toolChoice = .required
        let answer = try await client().answer(request)
        let call = try #require(answer.toolCalls.first)
        #expect(call.name == "weather" && !call.id.isEmpty && call.isComplete)
        let arguments = try JSONBody.decode(JSONValue.self, from: Array(call.arguments.utf8))
        #expect(["Paris", "Rome"].contains(arguments["city"]?.string))
    }

    @Test func anAnswerKeepsToItsSchema() async throws {
        var request = request("Is a mill a building? Answer with one word.")
        request.schema = [
            "type": "object", "properties": ["answer": ["type": "string", "enum": ["yes", "no"]]],
            "required": ["answer"], "additionalProperties": false,
        ]
        let answer = try await client().answer(request)
        #expect(!answer.isCutByLength)
        let read = try JSONBody.decode(JSONValue.self, from: Array(answer.text.utf8))
        #expect(["yes", "no"].contains(read["answer"]?.string))
    }

    @Test func moreThanItCanReadIsToldApart() async throws {
        let long = request(String(repeating: "The river rose and the mill stood still. ", count: 600))
        let error = await #expect(throws: LLMError.self) { _ = try await client().answer(long) }
        #expect(error?.cause == .contextOverflow)
    }
}
