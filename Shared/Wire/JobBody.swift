/// The body of SUBMIT, DISPATCH and CALL. docs/protocol.md, section 6.
///
/// One byte with the length of the skill's id, the id, then fields: one byte with the field's number, four bytes with
/// its length (little-endian), its content. The skill stands first so that a router can pass on a request that names
/// its skill without reading further; text is raw so that nobody escapes a megabyte. Unknown fields are skipped.
public enum JobBody {
    private enum Field: UInt8 {
        case session = 1  // UTF-8
        case text = 2  // UTF-8
        case material = 3  // UTF-8
        case arguments = 4  // JSON object
        case attachments = 5  // JSON array of {name, mediaType, bytes}
        case history = 6  // JSON array of {role, text, skills}
        case previous = 7  // JSON array of {step, skill, output}
        case idempotencyKey = 8  // UTF-8
        case depth = 9  // one byte
        case explain = 10  // one byte, 0 or 1
        case plan = 11  // JSON
        case tenant = 12  // eight bytes, right after the session
        case begun = 13  // execution list
        case privacy = 14  // one byte
        case approved = 15  // JSON array of strings
        case cache = 16  // one byte, 0 or 1
        case canClarify = 17  // one byte, 0 or 1
        case routing = 18  // one byte
        case summary = 19  // UTF-8
    }

    /// Writes a body. An empty skill in a SUBMIT asks the router to choose. `begun` has the last execution of each job of
    /// the request that has begun and not ended, by all that is known.
    /// - Throws: `WireError` when a part cannot be encoded or the skill's id is too long.
    public static func encode(
        skill: String,
        input: JobInput,
        begun: [Execution] = []
    ) throws(WireError) -> [UInt8] {
        let id = Array(skill.utf8)
        guard id.count <= 64 else { throw .tooLarge(what: "skill id", limit: 64, got: id.count) }
        var body: [UInt8] = []
        body.reserveCapacity(96 + id.count + input.text.utf8.count + (input.material?.utf8.count ?? 0))
        body.append(UInt8(id.count))
        body += id
        append(.session, input.session, to: &body)
        if let tenant = input.tenant {
            appendPrefix(.tenant, 8, to: &body)
            withUnsafeBytes(of: tenant.littleEndian) { body.append(contentsOf: $0) }
        }
        append(.text, input.text, to: &body)
        if let material = input.material { append(.material, material, to: &body) }
        if let arguments = input.arguments { append(.arguments, try JSONBody.encode(arguments), to: &body) }
        if let attachments = input.attachments { append(.attachments, try JSONBody.encode(attachments), to: &body) }
        if let history = input.history { append(.history, try JSONBody.encode(history), to: &body) }
        if let summary = input.summary { append(.summary, summary, to: &body) }
        if let previous = input.previous { append(.previous, try JSONBody.encode(previous), to: &body) }
        if let key = input.idempotencyKey { append(.idempotencyKey, key, to: &body) }
        if let depth = input.depth { append(.depth, [UInt8(clamping: depth)], to: &body) }
        if let explain = input.explain { append(.explain, [explain ? 1 : 0], to: &body) }
        if let privacy = input.privacy { append(.privacy, [privacy.number], to: &body) }
        if let approved = input.approved { append(.approved, try JSONBody.encode(approved), to: &body) }
        if let cache = input.cache { append(.cache, [cache ? 1 : 0], to: &body) }
        if let canClarify = input.canClarify { append(.canClarify, [canClarify ? 1 : 0], to: &body) }
        if let routing = input.routing { append(.routing, [routing.number], to: &body) }
        if let plan = input.plan { append(.plan, try JSONBody.encode(plan), to: &body) }
        if !begun.isEmpty {
            appendPrefix(.begun, begun.count * ExecutionList.entry, to: &body)
            for execution in begun { ExecutionList.append(execution, to: &body) }
        }
        return body
    }

    /// What a SUBMIT says of the jobs of its request that have begun, by the job; empty when it says nothing.
    /// - Throws: `WireError` for what is no body.
    public static func begun(_ body: RawSpan) throws(WireError) -> [Identifier: Execution] {
        var begun: [Identifier: Execution] = [:]
        try forEachField(body, from: try split(body).fieldsStart) { number, range throws(WireError) in
            guard number == Field.begun.rawValue else { return }
            try ExecutionList.forEach(body.extracting(range)) { begun[$0.job] = $0 }
        }
        return begun
    }

    /// Who takes turns with whom: numbers made of the session that a body names, equal for equal names and hardly ever for
    /// others, and of its tenant. A session is 0 when the body does not begin with one, a tenant when the session is not
    /// followed by one.
    public static func origin(_ body: RawSpan) -> (tenant: UInt64, session: UInt64) {
        body.withUnsafeBytes { bytes in
            guard let count = bytes.first else { return (0, 0) }
            let start = Int(count) + 6
            guard start <= bytes.count, bytes[Int(count) + 1] == Field.session.rawValue else { return (0, 0) }
            let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start - 4, as: UInt32.self)))
            guard length <= bytes.count - start else { return (0, 0) }
            // FNV-1a, of words instead of bytes as far as there are whole ones.
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            func add(_ value: UInt64) {
                hash = (hash ^ value) &* 0x0000_0100_0000_01b3
                hash ^= hash >> 32
            }
            var place = start
            while place + 8 <= start + length {
                add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                place += 8
            }
            while place < start + length {
                add(UInt64(bytes[place]))
                place += 1
            }
            guard place + 13 <= bytes.count, bytes[place] == Field.tenant.rawValue,
                bytes.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self) == UInt32(8).littleEndian
            else { return (0, hash) }
            let tenant = bytes.loadUnaligned(fromByteOffset: place + 5, as: UInt64.self)
            return (UInt64(littleEndian: tenant), hash)
        }
    }

    /// What a body says about using an output again.
    public struct Identity: Sendable {
        /// Whether an output that was made before may be the answer.
        public var mayBeCached = true
        /// What may go to outside parties.
        public var privacy = PrivacyPolicy.localOnly
    }

    /// Calls the closure with the parts of a body that an output can depend on, in an order that equal inputs share. The
    /// session, the tenant and what is about this one job are not among them; nothing is parsed.
    /// - Returns: What the body says about using an output again.
    /// - Throws: `WireError` for what is no body.
    public static func identity(_ body: RawSpan, _ use: (RawSpan) -> Void) throws(WireError) -> Identity {
        var identity = Identity()
        try forEachField(body, from: try split(body).fieldsStart) { number, range throws(WireError) in
            switch Field(rawValue: number) {
            case .text, .material, .arguments, .attachments, .history, .summary, .previous, .privacy:
                if number == Field.privacy.rawValue, range.count == 1 {
                    let policy = body.unsafeLoad(fromByteOffset: range.lowerBound, as: UInt8.self)
                    identity.privacy = PrivacyPolicy(number: policy)
                }
                // With number and length before it, so that no two lists of fields look alike.
                use(body.extracting(range.lowerBound - 5..<range.upperBound))
            case .cache where range.count == 1:
                identity.mayBeCached = body.unsafeLoad(fromByteOffset: range.lowerBound, as: UInt8.self) != 0
            default: break
            }
        }
        return identity
    }

    private static func append(_ field: Field, _ content: [UInt8], to body: inout [UInt8]) {
        appendPrefix(field, content.count, to: &body)
        body += content
    }

    private static func append(_ field: Field, _ content: String, to body: inout [UInt8]) {
        var content = content
        content.withUTF8 { bytes in
            appendPrefix(field, bytes.count, to: &body)
            body += bytes
        }
    }

    private static func appendPrefix(_ field: Field, _ count: Int, to body: inout [UInt8]) {
        body.append(field.rawValue)
        withUnsafeBytes(of: UInt32(count).littleEndian) { body.append(contentsOf: $0) }
    }

    /// The skill's id and where the fields start.
    /// - Throws: `WireError` when the body is too short or the id is not UTF-8.
    public static func split(_ body: RawSpan) throws(WireError) -> (skill: String, fieldsStart: Int) {
        guard body.byteCount > 0 else { throw .truncated(needed: 1, got: 0) }
        let end = 1 + Int(body.unsafeLoad(fromByteOffset: 0, as: UInt8.self))
        guard end <= body.byteCount else { throw .truncated(needed: end, got: body.byteCount) }
        // Ids are ASCII, which needs no validation; anything else takes the slow way to its error.
        let id = body.withUnsafeBytes { bytes -> String? in
            let id = UnsafeRawBufferPointer(rebasing: bytes[1..<end])
            return id.allSatisfy { $0 < 0x80 } ? String(decoding: id, as: UTF8.self) : nil
        }
        if let id { return (id, end) }
        return (try text(body, 1..<end, "skill id"), end)
    }

    /// Reads a whole body.
    /// - Throws: `WireError` for anything that is not one.
    public static func decode(_ body: RawSpan) throws(WireError) -> (skill: String, input: JobInput) {
        let (skill, start) = try split(body)
        var input = JobInput(session: "", text: "")
        try forEachField(body, from: start) { number, range throws(WireError) in
            try read(number, body, range, into: &input)
        }
        return (skill, input)
    }

    private static func forEachField(
        _ body: RawSpan,
        from start: Int,
        _ use: (UInt8, Range<Int>) throws(WireError) -> Void
    ) throws(WireError) {
        var position = start
        while position < body.byteCount {
            guard position + 5 <= body.byteCount else { throw .truncated(needed: position + 5, got: body.byteCount) }
            let number = body.unsafeLoad(fromByteOffset: position, as: UInt8.self)
            let stored = body.unsafeLoadUnaligned(fromByteOffset: position + 1, as: UInt32.self)
            let length = Int(UInt32(littleEndian: stored))
            let content = position + 5
            guard length <= body.byteCount - content else {
                throw .truncated(needed: content + length, got: body.byteCount)
            }
            try use(number, content..<content + length)
            position = content + length
        }
    }

    /// Reads a whole body.
    /// - Throws: `WireError` for anything that is not one.
    public static func decode(_ body: [UInt8]) throws(WireError) -> (skill: String, input: JobInput) {
        try decode(body.span.bytes)
    }

    private static func read(
        _ number: UInt8,
        _ body: RawSpan,
        _ range: Range<Int>,
        into input: inout JobInput
    ) throws(WireError) {
        switch Field(rawValue: number) {
        case .session: input.session = try text(body, range, "session")
        case .text: input.text = try text(body, range, "text")
        case .material: input.material = try text(body, range, "material")
        case .arguments: input.arguments = try json(JSONValue.self, body, range)
        case .attachments: input.attachments = try json([JobInput.Attachment].self, body, range)
        case .history: input.history = try json([JobInput.Turn].self, body, range)
        case .summary: input.summary = try text(body, range, "summary")
        case .previous: input.previous = try json([JobInput.Previous].self, body, range)
        case .idempotencyKey: input.idempotencyKey = try text(body, range, "idempotency key")
        case .depth:
            input.depth = range.isEmpty ? nil : Int(body.unsafeLoad(fromByteOffset: range.lowerBound, as: UInt8.self))
        case .explain:
            input.explain = !range.isEmpty && body.unsafeLoad(fromByteOffset: range.lowerBound, as: UInt8.self) != 0
        case .canClarify:
            input.canClarify = !range.isEmpty && body.unsafeLoad(fromByteOffset: range.lowerBound, as: UInt8.self) != 0
        case .plan: input.plan = try json(Plan.self, body, range)
        case .tenant:
            guard range.count == 8 else { break }
            let stored = body.unsafeLoadUnaligned(fromByteOffset: range.lowerBound, as: UInt64.self)
            input.tenant = UInt64(littleEndian: stored)
        case .privacy where range.count == 1:
            input.privacy = PrivacyPolicy(number: body.unsafeLoad(fromByteOffset: range.lowerBound, as: UInt8.self))
        case .approved: input.approved = try json([String].self, body, range)
        case .cache where range.count == 1:
            input.cache = body.unsafeLoad(fromByteOffset: range.lowerBound, as: UInt8.self) != 0
        case .routing where range.count == 1:
            input.routing = Routing(number: body.unsafeLoad(fromByteOffset: range.lowerBound, as: UInt8.self))
        case .privacy, .cache, .begun, .routing, nil: break
        }
    }

    private static func text(_ body: RawSpan, _ range: Range<Int>, _ what: String) throws(WireError) -> String {
        // By way of a UTF8Span, which validates as fast as it reads; `String(validating:as:)` takes four times as long.
        let text = body.withUnsafeBytes { bytes -> String? in
            let part = UnsafeRawBufferPointer(rebasing: bytes[range]).bindMemory(to: UInt8.self)
            guard let valid = try? UTF8Span(validating: part.span) else { return nil }
            return String(copying: valid)
        }
        guard let text else { throw .notUTF8(what: what) }
        return text
    }

    private static func json<Value: Decodable>(
        _ type: Value.Type,
        _ body: RawSpan,
        _ range: Range<Int>
    ) throws(WireError) -> Value {
        try JSONBody.decode(type, from: body.withUnsafeBytes { Array($0[range]) })
    }
}
