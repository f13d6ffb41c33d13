import LLM
import ModelAccess
import SkillKit
import SkillKitTesting
import TestSupport
import Wire

/// A model server of the test's own, and what tests of skills with a model ask of it.
enum ModelServer {
    typealias Connection = ScriptedServer.Connection

    /// A piece of an answer.
    static func event(_ text: String) -> String {
        var json = JSONText()
        json.string(text)
        return #"data: {"choices":[{"index":0,"delta":{"content":\#(String(decoding: json.bytes, as: UTF8.self))}}]}"#
            + "\n\n"
    }

    /// Answers with a text, in pieces of so many characters.
    static func say(_ text: String, _ connection: Connection, pieces: Int = 7) {
        connection.startStream()
        var rest = text[...]
        while !rest.isEmpty {
            connection.send(event(String(rest.prefix(pieces))))
            rest = rest.dropFirst(pieces)
        }
        connection.send(#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"# + "\n\ndata: [DONE]\n\n")
    }

    /// Answers with a part of a text and closes.
    static func cut(_ text: String, _ connection: Connection) {
        connection.startStream()
        connection.send(event(text))
    }

    static func access(_ server: ScriptedServer, rounds: Int = 3) throws -> ModelAccess {
        ModelAccess(client: LLMClient([try Endpoint(url: server.url + "/v1", model: "tester")], rounds: rounds))
    }

    static func messages(_ request: ScriptedServer.Request) -> [(role: String, text: String)] {
        let body = try? JSONBody.decode(JSONValue.self, from: request.body)
        return (body?["messages"]?.array ?? []).map { ($0["role"]?.string ?? "", $0["content"]?.string ?? "") }
    }

    /// The material of a request, without its marks.
    static func material(_ request: ScriptedServer.Request) -> String {
        let text = messages(request).first { $0.role == "user" }?.text ?? ""
        return text.replacing("<text>\n", with: "").replacing("\n</text>", with: "")
    }
}

extension SkillRun {
    /// The engines that were named.
    var engines: [String] { events.compactMap { if case .engine(let name) = $0 { name } else { nil } } }
    /// What was told of the work.
    var progress: [String] { events.compactMap { if case .progress(let text, _) = $0 { text } else { nil } } }
    /// Why something was tried again.
    var retries: [String] { events.compactMap { if case .retrying(let reason) = $0 { reason } else { nil } } }
    /// What of the streamed text counts: all since the last retry.
    var standingText: String {
        events.reduce(into: "") { text, event in
            switch event {
            case .textDelta(let piece): text += piece
            case .retrying: text = ""
            default: break
            }
        }
    }
    /// The notes of the output.
    var notes: [String] { output?.parts.filter { $0.kind == "note" }.compactMap(\.text) ?? [] }
}
