import Bus
import Wire

/// A worker that has registered.
final class Worker {
    let peer: Peer
    let registration: Registration
    let skills: [String]
    /// Slots that are free by all that is known: what the worker said last, less what was sent since.
    var credit: Int
    /// Number of the last dispatch over this connection.
    var dispatches: UInt64
    /// Rises from dispatch to dispatch of this router: which of several idle workers has waited longest.
    var lastPick: UInt64 = 0
    /// What it serves, as far as it was accepted.
    var entries: [SkillEntry] = []
    /// The place of the one that is served first the next time a slot is free.
    var nextEntry = 0
    /// Jobs that it has.
    var leases = Leases()
    var isDraining = false
    /// Whether other routers may have slots of it, of which it gives some to where jobs wait.
    var sharesSlots = false
    var isolation = Isolation.none
    /// The number of its key, where keys are configured.
    var key: UInt32?
    var lastHeard: UInt64
    /// Set while there is no connection to it: when it is given up.
    var returnsBy: UInt64?
    let outbox = Outbox()

    /// How a worker stands to jobs that may be what ended another one.
    enum Isolation {
        /// It takes what comes.
        case none
        /// It takes nothing until it has ended what it has; then such a job.
        case awaited
        /// It has such a job, and nothing else beside it.
        case alone
    }

    init(peer: Peer, registration: Registration, credit: Int, dispatches: UInt64 = 0, now: UInt64) {
        self.peer = peer
        self.registration = registration
        self.credit = credit
        self.dispatches = dispatches
        skills = registration.manifests.map(\.id)
        lastHeard = now
    }

    /// Its skill of that id.
    func entry(of skill: String) -> SkillEntry? { entries.first { $0.id == skill } }

    /// Jobs that wait for a skill of it.
    var waitingJobs: Int { entries.reduce(0) { $0 + $1.queue.count } }

    /// Takes the worker's word for its free slots. `seen` is the last dispatch it had got when it said so: what was
    /// sent after that and is still out counts against it.
    func grant(_ free: Int, seen: UInt64) {
        let underway = leases.values.reduce(0) { count, job in
            if case .leased(_, let dispatch, _) = job.state, dispatch > seen { count + 1 } else { count }
        }
        credit = max(free - underway, 0)
    }
}

/// The jobs of one worker. Each knows its place, so that adding and removing one, which every job does, needs no
/// look-up; finding one by its id, which is rare, does.
struct Leases {
    /// In no order.
    private(set) var values: [Job] = []

    var count: Int { values.count }

    mutating func add(_ job: Job) {
        job.leasePlace = values.count
        values.append(job)
    }

    mutating func remove(_ job: Job) {
        let place = job.leasePlace
        guard place < values.count, values[place] === job, let last = values.popLast(), last !== job else { return }
        values[place] = last
        last.leasePlace = place
    }

    subscript(_ id: Identifier) -> Job? { values.first { $0.id == id } }

    /// Whether the worker has said something of one of them.
    var hasBegun: Bool { values.contains { if case .leased(_, _, true) = $0.state { true } else { false } } }

    /// How many are jobs of a skill.
    func count(of skill: String) -> Int { values.reduce(0) { $0 + ($1.skill == skill ? 1 : 0) } }
}

/// One skill: its versions and the jobs that wait for it.
final class SkillEntry {
    final class Version {
        let manifest: SkillManifest
        let isIdempotent: Bool
        /// How long an output may be used again, in milliseconds; 0 for not at all.
        let cacheLifetime: UInt64
        let order: SemanticVersion
        var workers: [Worker] = []

        init(manifest: SkillManifest, order: SemanticVersion) {
            self.manifest = manifest
            isIdempotent = manifest.idempotent
            // What must not run twice has an effect, which no output has.
            cacheLifetime = manifest.idempotent ? UInt64(min(manifest.cacheTTL, 7 * 86_400) * 1000) : 0
            self.order = order
        }
    }

    let id: String
    /// Newest first.
    var versions: [Version] = [] {
        didSet { mayCache = versions.contains { $0.cacheLifetime > 0 } }
    }
    /// Whether outputs of some version may be used again.
    private(set) var mayCache = false
    /// Rises when workers of it come after there were none.
    var era: UInt64 = 0
    var queue = JobQueue()
    /// Since when it has had no worker.
    var orphanedAt: UInt64?
    /// When its last worker was heard of.
    var lastSeen: UInt64 = 0
    /// The worker that is to be free for a job which must run alone.
    var awaited: Worker?
    /// How long its jobs take and wait.
    var backlog = Backlog()
    /// How many jobs may wait. The queue holds some more, which are on their way when the gateways are told; not where
    /// these count what they send, once what waited before that has been done.
    var bound = Limits.queuedJobsPerSkill {
        didSet {
            let more = max(bound / 2, 4)
            let most = !backlog.isStanding ? bound + more : queue.count > bound ? queue.count + more : bound
            queue.bound = min(most, Limits.queuedJobsPerSkill)
        }
    }
    /// When it was last looked at how long its queue takes.
    var measuredAt: UInt64 = 0
    /// Whether gateways refuse what would be too much, and when they were told last.
    var isShut = false
    var loadSaid: UInt64 = 0
    /// When workers were last told that jobs wait.
    var askedAt: UInt64 = 0
    var hasAsked = false

    init(id: String) { self.id = id }

    private var version: Version? { versions.first { !$0.workers.isEmpty } ?? versions.first }
    var manifest: SkillManifest? { version?.manifest }
    /// The version in use, if its outputs may be used again.
    var cachingVersion: Version? { version.flatMap { $0.cacheLifetime > 0 ? $0 : nil } }
    /// What the manifest says of it; asked for each job, hence not by way of a copy of the manifest.
    var isIdempotent: Bool { version?.isIdempotent ?? true }
    var hasWorkers: Bool { versions.contains { !$0.workers.isEmpty } }

    /// The worker with the most free slots among those of the newest version that has any; of several, the one that
    /// has waited longest.
    func freeWorker() -> Worker? {
        for version in versions where !version.workers.isEmpty {
            var best: Worker?
            for worker in version.workers where worker.credit > 0 && !worker.isDraining {
                if worker.isolation != .none {
                    guard worker.isolation == .alone, worker.leases.count == 0 else { continue }
                    worker.isolation = .none
                }
                guard let leader = best else {
                    best = worker
                    continue
                }
                let isBetter =
                    (leader.credit, worker.leases.count, worker.lastPick)
                    < (worker.credit, leader.leases.count, leader.lastPick)
                if isBetter { best = worker }
            }
            if best != nil { return best }
            // While a newer version has workers, busy or not, older ones only finish what they have.
            if version.workers.contains(where: { !$0.isDraining }) { return nil }
        }
        return nil
    }

    /// A worker without a job, for one that must run alone.
    func emptyWorker() -> Worker? {
        workersInUse.first { $0.credit > 0 && $0.leases.count == 0 && $0.isolation != .alone || $0.isIdleAlone }
    }

    /// The worker that will soonest be without a job if it gets no more.
    func leastBusyWorker() -> Worker? {
        workersInUse.filter { $0.isolation == .none }.min { $0.leases.count < $1.leases.count }
    }

    /// Those of the newest version that has any.
    var workersInUse: [Worker] {
        for version in versions {
            let workers = version.workers.filter { !$0.isDraining }
            if !workers.isEmpty { return workers }
        }
        return []
    }
}

extension Worker {
    /// Whether it has run a job alone, which has ended.
    fileprivate var isIdleAlone: Bool { isolation == .alone && leases.count == 0 && credit > 0 }
}

/// Who is there: skills, workers, gateways. Live: nothing is configured, everything comes with a registration.
struct Registry {
    private(set) var skills: [String: SkillEntry] = [:]
    private(set) var workers: [Peer: Worker] = [:]
    var gateways: [String: GatewayLink] = [:]
    private var gatewaysByPeer: [Peer: GatewayLink] = [:]
    private var lastAsked: SkillEntry?
    /// Rises whenever routing must look at the manifests again.
    private(set) var revision: UInt64 = 0

    /// The manifests that routing chooses from: of each skill the version in use, in a fixed order.
    var manifests: [SkillManifest] { skills.keys.sorted().compactMap { skills[$0]?.manifest } }

    /// The ids of the skills that have a worker, in order.
    var served: [String] { skills.values.filter(\.hasWorkers).map(\.id).sorted() }

    func gateway(of peer: Peer) -> GatewayLink? { gatewaysByPeer[peer] }

    /// A skill by its id. The one asked for last is found without hashing: requests come in runs.
    mutating func skill(_ id: String) -> SkillEntry? {
        if let lastAsked, lastAsked.id == id { return lastAsked }
        lastAsked = skills[id]
        return lastAsked
    }

    /// Takes a gateway in, or back under a new peer.
    mutating func greet(_ hello: Hello, peer: Peer, now: UInt64) -> GatewayLink {
        let link = gateways[hello.gateway] ?? GatewayLink(id: hello.gateway, peer: peer, now: now)
        gatewaysByPeer[link.peer] = nil
        link.peer = peer
        link.lastHeard = now
        link.isConnected = true
        gateways[hello.gateway] = link
        gatewaysByPeer[peer] = link
        return link
    }

    mutating func lose(_ gateway: GatewayLink) {
        gateway.isConnected = false
        gatewaysByPeer[gateway.peer] = nil
    }

    /// Forgets gateways that went long ago. One that has fallen silent without a word is gone as well.
    mutating func forget(gatewaysSilentSince time: UInt64) {
        for (id, gateway) in gateways where gateway.lastHeard < time {
            lose(gateway)
            gateways[id] = nil
        }
    }

    /// Takes a worker in.
    /// - Throws: `JobError` that says which manifest is refused and why.
    mutating func register(
        _ registration: Registration,
        peer: Peer,
        credit: Int,
        seen: UInt64 = 0,
        now: UInt64
    ) throws(JobError) -> Worker {
        guard workers.count < Limits.workers || workers[peer] != nil else {
            throw JobError(
                code: JobError.Code.overloaded,
                message: "this router has \(Limits.workers) workers already",
                retryable: true
            )
        }
        guard !registration.manifests.isEmpty, registration.manifests.count <= Limits.skillsPerWorker else {
            throw JobError(
                code: JobError.Code.badManifest,
                message: "a worker has 1 to \(Limits.skillsPerWorker) skills, this one \(registration.manifests.count)"
            )
        }
        guard 1...1024 ~= registration.concurrency else {
            throw JobError(
                code: JobError.Code.badManifest,
                message: "concurrency must be between 1 and 1024, it is \(registration.concurrency)"
            )
        }
        let wrong =
            wrongName("worker", registration.worker, from: 1) ?? wrongName("host", registration.host)
            ?? wrongName("product", registration.product)
        if let wrong { throw JobError(code: JobError.Code.badManifest, message: wrong) }
        var ids: Set<String> = []
        for manifest in registration.manifests {
            guard ids.insert(manifest.id).inserted else {
                throw JobError(
                    code: JobError.Code.badManifest,
                    message: "skill \"\(manifest.id.prefix(64))\" is registered twice by the same worker"
                )
            }
            try check(manifest)
        }
        let worker = Worker(peer: peer, registration: registration, credit: credit, dispatches: seen, now: now)
        workers[peer] = worker
        for manifest in registration.manifests { add(manifest, worker, now: now) }
        return worker
    }

    private func check(_ manifest: SkillManifest) throws(JobError) {
        do {
            try manifest.validate()
        } catch {
            throw JobError(
                code: JobError.Code.badManifest,
                message: error.description,
                hint: "correct the manifest of \"\(manifest.id.prefix(64))\" and start the worker again"
            )
        }
        let taken = skills[manifest.id]?.versions.first { $0.manifest.version == manifest.version }
        if let taken, !taken.manifest.isSameVersion(as: manifest), !taken.workers.isEmpty {
            let holder = taken.workers[0].registration
            throw JobError(
                code: JobError.Code.manifestConflict,
                message: "skill \(manifest.id) \(manifest.version) is registered with another manifest by "
                    + "\(holder.worker) (host \(holder.host), pid \(holder.pid))",
                hint: "raise the version of one of the two, or give it another id"
            )
        }
    }

    private mutating func add(_ manifest: SkillManifest, _ worker: Worker, now: UInt64) {
        let entry = skills[manifest.id] ?? SkillEntry(id: manifest.id)
        skills[manifest.id] = entry
        worker.entries.append(entry)
        if !entry.hasWorkers { entry.era += 1 }
        entry.orphanedAt = nil
        entry.lastSeen = now
        if let version = entry.versions.first(where: { $0.manifest.isSameVersion(as: manifest) }) {
            if version.workers.isEmpty { revision += 1 }
            version.workers.append(worker)
            return
        }
        entry.versions.removeAll { $0.manifest.version == manifest.version && $0.workers.isEmpty }
        // `check` has read the version before.
        guard let order = SemanticVersion(manifest.version) else { return }
        let version = SkillEntry.Version(manifest: manifest, order: order)
        version.workers.append(worker)
        entry.versions.append(version)
        entry.versions.sort { $0.order > $1.order }
        revision += 1
    }

    /// Takes a worker out. Its skills stay known for a while, so that their absence can be told from their unknownness.
    mutating func remove(_ worker: Worker, now: UInt64) {
        guard workers.removeValue(forKey: worker.peer) != nil else { return }
        for skill in worker.skills {
            guard let entry = skills[skill] else { continue }
            for version in entry.versions { version.workers.removeAll { $0 === worker } }
            // The last version stays for its manifest.
            let hasOthers = entry.hasWorkers
            let newest = entry.versions.first
            entry.versions.removeAll { $0.workers.isEmpty && (hasOthers || $0 !== newest) }
            entry.lastSeen = now
            if !hasOthers { entry.orphanedAt = now }
            revision += 1
        }
    }

    /// Forgets skills that have had no worker for long.
    mutating func forget(orphanedBefore time: UInt64) {
        for (id, entry) in skills {
            guard let orphanedAt = entry.orphanedAt, orphanedAt < time, entry.queue.count == 0 else { continue }
            skills[id] = nil
            lastAsked = nil
            revision += 1
        }
    }

    /// What `GET /v1/skills` shows.
    var list: SkillList {
        SkillList(
            skills: skills.keys.sorted().compactMap { id in
                guard let entry = skills[id], var manifest = entry.manifest else { return nil }
                // Any of them may get a job, and each has its own settings.
                let registered = entry.versions.flatMap(\.workers)
                if !registered.isEmpty { manifest.sendsDataTo = [] }
                for own in registered.flatMap(\.registration.manifests) where own.id == id {
                    manifest.addParties(of: own)
                }
                let workers = registered.map { worker in
                    SkillList.Worker(
                        id: worker.registration.worker,
                        host: worker.registration.host,
                        pid: worker.registration.pid,
                        credit: worker.credit,
                        busy: worker.leases.count
                    )
                }
                return SkillList.Entry(manifest: manifest, workers: workers, queued: entry.queue.count)
            }
        )
    }
}

/// What is wrong with the length of a name that a peer gave; nil when nothing is.
func wrongName(_ field: String, _ name: String, from least: Int = 0) -> String? {
    guard !(least...Limits.shortString ~= name.utf8.count) else { return nil }
    return "\"\(field)\" must have \(least) to \(Limits.shortString) bytes, it has \(name.utf8.count)"
}
