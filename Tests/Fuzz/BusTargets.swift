import Intent
import SkillKit
import Wire

/// What is read again from what was written of it must be the same.
private func expectRoundTrip<Value: Codable & Equatable>(_ type: Value.Type, _ bytes: some Sequence<UInt8>) throws {
    guard let value = accepted({ () throws(WireError) in try JSONBody.decode(type, from: bytes) }) else { return }
    let written = try JSONBody.encode(value)
    let again = try JSONBody.decode(type, from: written)
    try expect(again == value, "\(type) is another after writing and reading: \(value), \(again)")
}

func fuzzMessage(_ bytes: [UInt8]) throws {
    guard let header = accepted({ () throws(WireError) in try Header(reading: bytes.span.bytes) }) else { return }
    try expect(header.bytes == Array(bytes.prefix(Header.size)), "the header is written as another")
    let body = bytes[Header.size...]
    switch header.type {
    case .hello: try expectRoundTrip(Hello.self, body)
    case .register:
        try expectRoundTrip(Registration.self, body)
        let registration = accepted { () throws(WireError) in try JSONBody.decode(Registration.self, from: body) }
        for manifest in registration?.manifests ?? [] { try? manifest.validate() }
    case .welcome: try expectRoundTrip(Welcome.self, body)
    case .plan:
        try expectRoundTrip(Plan.self, body)
        _ = try? JSONBody.decode(Plan.self, from: body).validate()
    case .query: try expectRoundTrip(Query.self, body)
    case .answer: try expectRoundTrip(SkillList.self, body)
    case .nack:
        try expectRoundTrip(JobError.self, body)
        try expectRoundTrip(Clarification.self, body)
    case .error, .result: try expectRoundTrip(JobError.self, body)
    case .submit, .dispatch, .call: try fuzzJob(Array(body))
    case .approval: _ = String(decoding: body, as: UTF8.self)
    case .event: try fuzzRecords(Array(body))
    case .eventAck, .fenced:
        var list: [UInt8] = []
        let whole: Void? = accepted { () throws(WireError) in
            try ExecutionList.forEach(Array(body).span.bytes) { ExecutionList.append($0, to: &list) }
        }
        try expect(whole == nil || list == Array(body), "an execution is written in another way than it was read")
    case .heartbeat:
        var list: [UInt8] = []
        let whole: Void? = accepted { () throws(WireError) in
            try ExecutionList.forEachWithProgress(Array(body).span.bytes) { execution, progress in
                ExecutionList.append(execution, progress: progress, to: &list)
            }
        }
        try expect(whole == nil || list == Array(body), "a running job is written in another way than it was read")
    case .batch:
        let body = Array(body)
        var cursor = BatchCursor()
        var end = 0
        while let range = accepted({ () throws(WireError) in try cursor.next(in: body.span.bytes) }) ?? nil {
            try expect(range.lowerBound == end + Batch.prefix, "a message of a batch is passed over")
            try expect(range.upperBound <= body.count, "a message of a batch runs over the end")
            end = range.upperBound
            // One level: a batch in a batch is refused where they are read.
            let inner = Array(body[range])
            if inner.count > 5, inner[5] != MessageType.batch.rawValue { try fuzzMessage(inner) }
        }
    default: break
    }
}

func fuzzJob(_ bytes: [UInt8]) throws {
    guard let (skill, input) = accepted({ () throws(WireError) in try JobBody.decode(bytes) }) else { return }
    // A router passes ids of any length on unread; only a sender keeps to the limit.
    guard skill.utf8.count <= 64 else { return }
    let again = try JobBody.decode(try JobBody.encode(skill: skill, input: input))
    try expect(again.skill == skill, "the skill is another after writing and reading")
    try expect(again.input == input, "a job is another after writing and reading: \(input), \(again.input)")
}

func fuzzManifest(_ bytes: [UInt8]) throws {
    try expectRoundTrip(SkillManifest.self, bytes)
    guard let manifest = try? JSONBody.decode(SkillManifest.self, from: bytes), (try? manifest.validate()) != nil
    else { return }
    let chat = SkillManifest(id: "chat", description: "Talks about anything.", priority: 10)
    let model = IntentModel(manifests: [manifest, chat])
    for text in [manifest.examples.first ?? "", "\(manifest.id) 3 times, in Chinese: \(manifest.description)"] {
        let decision = model.decide(RoutingQuestion(text: text))
        do {
            try decision.plan.validate()
        } catch {
            throw FuzzTarget.Failure("a plan that cannot run: \(error)")
        }
        let known = Set([manifest.id, "chat"])
        try expect(decision.plan.steps.allSatisfy { known.contains($0.skill) }, "a step of an unknown skill")
        for step in decision.plan.steps {
            try expect(step.arguments.object != nil, "arguments that are no object: \(step.arguments)")
        }
    }
}

/// Arguments with a field of each kind that a skill may have.
struct AllKinds: SkillArguments, Equatable, Encodable {
    enum Choice: String, Codable, SchemaEnumeration { case short, long }
    struct Inner: Codable, Equatable { var name: String, weight: Double? }
    var text: String
    var count: Int?
    var ratio: Double?
    var isLoud: Bool?
    var choice: Choice?
    var list: [String]?
    var inner: Inner?
}

func fuzzArguments(_ bytes: [UInt8]) throws {
    guard let value = accepted({ () throws(WireError) in try JSONBody.decode(JSONValue.self, from: bytes) }) else {
        return
    }
    try expectRoundTrip(JSONValue.self, bytes)
    guard let arguments = accepted({ () throws(SkillError) in try AllKinds.decode(value) }) else { return }
    let written = try JSONBody.decode(JSONValue.self, from: try JSONBody.encode(arguments))
    try expect(try AllKinds.decode(written) == arguments, "arguments are others after writing and reading: \(value)")
    let known = Set(SchemaDerivation.schema(of: AllKinds.self)["properties"]?.object?.keys.map { $0 } ?? [])
    try expect(known.isSuperset(of: value.object?.keys.map { $0 } ?? []), "a name that the schema lacks: \(value)")
}
