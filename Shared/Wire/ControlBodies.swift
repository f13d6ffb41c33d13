/// Body of HELLO: a gateway introduces itself.
public struct Hello: Codable, Hashable, Sendable {
    /// Stable over restarts: requests belong to it.
    public var gateway: String
    /// New at each start of the process.
    public var instance: Identifier
    /// Host name.
    public var host: String
    /// Process id.
    public var pid: Int32
    /// Product version.
    public var product: String

    /// Makes a body.
    public init(gateway: String, instance: Identifier, host: String, pid: Int32, product: String) {
        self.gateway = gateway
        self.instance = instance
        self.host = host
        self.pid = pid
        self.product = product
    }
}

/// Body of REGISTER: a worker introduces itself and its skills.
public struct Registration: Codable, Equatable, Sendable {
    /// A job that the worker still has.
    public struct Held: Codable, Hashable, Sendable {
        /// What it is doing with it.
        public enum State: String, Codable, Sendable {
            /// Executing.
            case running
            /// Ended, and the terminal event not yet acknowledged.
            case unacknowledged
        }
        /// The job.
        public var job: Identifier
        /// Its generation.
        public var generation: UInt32
        /// Its attempt.
        public var attempt: UInt32
        /// The last event's number.
        public var sequence: UInt64
        /// What it is doing with it.
        public var state: State
        /// The instance of the router that it is from.
        public var router: Identifier?

        /// Makes an entry.
        public init(execution: Execution, sequence: UInt64, state: State, router: Identifier? = nil) {
            self.router = router
            job = execution.job
            generation = execution.generation
            attempt = execution.attempt
            self.sequence = sequence
            self.state = state
        }
    }

    /// Name for people; need not be unique.
    public var worker: String
    /// New at each start of the process.
    public var instance: Identifier
    /// Host name.
    public var host: String
    /// Process id.
    public var pid: Int32
    /// Product or library version.
    public var product: String
    /// Jobs that it runs at a time, over all its skills.
    public var concurrency: Int
    /// Its skills.
    public var manifests: [SkillManifest]
    /// Jobs it still has from before.
    public var held: [Held]

    /// Makes a body.
    public init(
        worker: String,
        instance: Identifier,
        host: String,
        pid: Int32,
        product: String,
        concurrency: Int,
        manifests: [SkillManifest],
        held: [Held] = []
    ) {
        self.worker = worker
        self.instance = instance
        self.host = host
        self.pid = pid
        self.product = product
        self.concurrency = concurrency
        self.manifests = manifests
        self.held = held
    }

    private enum Key: String, CodingKey {
        case worker, instance, host, pid, product, concurrency, manifests, held
    }

    /// Decodes a body; `held`, `host`, `pid` and `product` may be missing.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        worker = try fields.decode(String.self, forKey: .worker)
        instance = try fields.decode(Identifier.self, forKey: .instance)
        host = try fields.decodeIfPresent(String.self, forKey: .host) ?? ""
        pid = try fields.decodeIfPresent(Int32.self, forKey: .pid) ?? 0
        product = try fields.decodeIfPresent(String.self, forKey: .product) ?? ""
        concurrency = try fields.decode(Int.self, forKey: .concurrency)
        manifests = try fields.decode([SkillManifest].self, forKey: .manifests)
        held = try fields.decodeIfPresent([Held].self, forKey: .held) ?? []
    }
}

/// Body of WELCOME.
public struct Welcome: Codable, Hashable, Sendable {
    /// New at each start of the router.
    public var router: Identifier
    /// Milliseconds between heartbeats.
    public var heartbeat: Int
    /// Heartbeats of silence after which a peer counts as gone.
    public var liveness: Int
    /// Product version.
    public var product: String
    /// To workers: whether it takes over executions of a router that is gone. Older ones do not say.
    public var adopts: Bool?
    /// To gateways: the skills that have a worker, by their ids. Said again when it changes. Older ones do not say.
    public var skills: [String]?
    /// To gateways: jobs that it has.
    public var load: Int?

    /// Makes a body.
    public init(
        router: Identifier,
        heartbeat: Int,
        liveness: Int,
        product: String,
        adopts: Bool? = nil,
        skills: [String]? = nil,
        load: Int? = nil
    ) {
        self.adopts = adopts
        self.skills = skills
        self.load = load
        self.router = router
        self.heartbeat = heartbeat
        self.liveness = liveness
        self.product = product
    }
}

/// Body of LOAD: which requests for a skill would be refused now, so that a gateway can refuse them before it takes them.
public struct SkillLoad: Codable, Hashable, Sendable {
    /// The skill.
    public var skill: String
    /// Tenants that have as much waiting as they may, by their numbers. Others have room.
    public var tenants: [UInt64]
    /// A session of one of them with fewer open requests has room too.
    public var session: Int
    /// Where more is asked than can be done: how many requests there is room for, until the next LOAD. No tenants are all.
    public var room: Int?

    /// Makes a body.
    public init(skill: String, tenants: [UInt64], session: Int, room: Int? = nil) {
        self.skill = skill
        self.tenants = tenants
        self.session = session
        self.room = room
    }
}

/// Body of QUERY. The answer comes back as ANSWER with the same sequence.
public struct Query: Codable, Hashable, Sendable {
    /// What is asked.
    public enum Subject: String, Codable, Sendable {
        /// The registry: answered by `SkillList`.
        case skills
        /// The plan that a text would get, with scores: answered by `Plan`.
        case route
    }
    /// What is asked.
    public var ask: Subject
    /// Of `route`: the text.
    public var text: String?
    /// Of `route`: the turns before it.
    public var history: [JobInput.Turn]?
    /// Of `route`: attachments that come with it.
    public var attachments: [JobInput.Attachment]?

    /// Makes a body.
    public init(
        ask: Subject,
        text: String? = nil,
        history: [JobInput.Turn]? = nil,
        attachments: [JobInput.Attachment]? = nil
    ) {
        self.ask = ask
        self.text = text
        self.history = history
        self.attachments = attachments
    }
}

/// Answer to the query for `skills`.
public struct SkillList: Codable, Equatable, Sendable {
    /// A worker of a skill, as of now.
    public struct Worker: Codable, Hashable, Sendable {
        /// Its name.
        public var id: String
        /// Its host.
        public var host: String
        /// Its process.
        public var pid: Int32
        /// Free slots.
        public var credit: Int
        /// Running jobs.
        public var busy: Int

        /// Makes an entry.
        public init(id: String, host: String, pid: Int32, credit: Int, busy: Int) {
            self.id = id
            self.host = host
            self.pid = pid
            self.credit = credit
            self.busy = busy
        }
    }

    /// A skill with its workers. Encoded as the manifest with two more fields, `workers` and `queued`.
    public struct Entry: Codable, Equatable, Sendable {
        /// The manifest.
        public var manifest: SkillManifest
        /// Its workers.
        public var workers: [Worker]
        /// Jobs waiting for one.
        public var queued: Int

        /// Makes an entry.
        public init(manifest: SkillManifest, workers: [Worker], queued: Int) {
            self.manifest = manifest
            self.workers = workers
            self.queued = queued
        }

        private enum Key: String, CodingKey { case workers, queued }

        /// Decodes the flat form.
        public init(from decoder: any Decoder) throws {
            manifest = try SkillManifest(from: decoder)
            let fields = try decoder.container(keyedBy: Key.self)
            workers = try fields.decode([Worker].self, forKey: .workers)
            queued = try fields.decodeIfPresent(Int.self, forKey: .queued) ?? 0
        }

        /// Encodes the flat form.
        public func encode(to encoder: any Encoder) throws {
            try manifest.encode(to: encoder)
            var fields = encoder.container(keyedBy: Key.self)
            try fields.encode(workers, forKey: .workers)
            try fields.encode(queued, forKey: .queued)
        }
    }

    /// Skills by id.
    public var skills: [Entry]

    /// Makes a list.
    public init(skills: [Entry]) { self.skills = skills }
}

/// A list of executions in binary, as in the bodies of HEARTBEAT, EVENT_ACK and FENCED: 24 bytes each
/// (identifier, generation, attempt), with eight bytes more in a heartbeat (progress).
public enum ExecutionList {
    /// Bytes of one execution.
    public static let entry = 24

    /// Appends one execution.
    public static func append(_ execution: Execution, to bytes: inout [UInt8]) {
        let numbers = UInt64(execution.generation) | UInt64(execution.attempt) << 32
        let words = (execution.job.high.bigEndian, execution.job.low.bigEndian, numbers.littleEndian)
        withUnsafeBytes(of: words) { bytes.append(contentsOf: $0) }
    }

    /// Calls the closure with each execution of a list.
    /// - Throws: `WireError.truncated` when the bytes are not a whole number of entries.
    public static func forEach(_ bytes: RawSpan, _ body: (Execution) -> Void) throws(WireError) {
        guard bytes.byteCount % entry == 0 else {
            throw .truncated(needed: (bytes.byteCount / entry + 1) * entry, got: bytes.byteCount)
        }
        for offset in stride(from: 0, to: bytes.byteCount, by: entry) { body(execution(bytes, at: offset)) }
    }

    /// Appends a running job with the number of its last event.
    public static func append(_ execution: Execution, progress: UInt64, to bytes: inout [UInt8]) {
        append(execution, to: &bytes)
        withUnsafeBytes(of: progress.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Calls the closure with each running job of a heartbeat.
    /// - Throws: `WireError.truncated` when the bytes are not a whole number of entries.
    public static func forEachWithProgress(_ bytes: RawSpan, _ body: (Execution, UInt64) -> Void) throws(WireError) {
        let size = entry + 8
        guard bytes.byteCount % size == 0 else {
            throw .truncated(needed: (bytes.byteCount / size + 1) * size, got: bytes.byteCount)
        }
        for offset in stride(from: 0, to: bytes.byteCount, by: size) {
            let progress = bytes.unsafeLoadUnaligned(fromByteOffset: offset + entry, as: UInt64.self)
            body(execution(bytes, at: offset), UInt64(littleEndian: progress))
        }
    }

    private static func execution(_ bytes: RawSpan, at offset: Int) -> Execution {
        Execution(
            job: Identifier(
                high: UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)),
                low: UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
            ),
            generation: UInt32(
                littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset + 16, as: UInt32.self)
            ),
            attempt: UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset + 20, as: UInt32.self))
        )
    }
}
