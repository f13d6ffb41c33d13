import Bus
import Credentials
import Wire

/// Answers that were given before. A job whose skill says that its outputs may be used again, and whose input has been
/// answered for the same tenant, is ended at once; one whose input is being worked on waits for that.
///
///     job --(known)--> ended
///      |--(being worked on)--> follower --(leader finishes)--> ended
///      |                          \--(leader fails)--> starts itself
///      \--(else)--> leader --> starts
extension Dispatcher {
    /// Ends the job, or has it wait for another, if it may. False when it has to be run.
    mutating func isAnswered(_ job: Job, _ entry: SkillEntry, now: UInt64) -> Bool {
        guard cache.limit > 0, let version = entry.cachingVersion, job.size <= OutputCache.largestInput,
            let (key, isPersonal) = key(of: job, version, entry)
        else { return false }
        if let (payload, text) = cache.output(for: key, now: now) {
            jobs[job.id] = job
            finish(job, payload, text: text, now: now)
            return true
        }
        // Where the user is asked something, another's answer is not his: nobody waits for such a job.
        guard !isPersonal, let flight = cache.flights[key] else {
            let flight = Flight(key: key, leader: job, lifetime: version.cacheLifetime)
            if !isPersonal { cache.flights[key] = flight }
            job.flight = flight
            return false
        }
        guard cache.bytesWaiting + job.size <= OutputCache.waitingBytes else { return false }
        cache.bytesWaiting += job.size
        flight.followers.append(job)
        job.flight = flight
        jobs[job.id] = job
        return true
    }

    /// What a job's output depends on; nil for one that wants no other's.
    private func key(
        of job: Job,
        _ version: SkillEntry.Version,
        _ entry: SkillEntry
    ) -> (key: CacheKey, isPersonal: Bool)? {
        var identity: JobBody.Identity?
        let digest = Digest { add in
            identity = job.parcel.withBody { body in
                try? JobBody.identity(body) { part in part.withUnsafeBytes(add) }
            }
            for frame in job.parcel.attachmentFrames { frame.withBytes { $0.withUnsafeBytes(add) } }
        }
        guard let identity, identity.mayBeCached else { return nil }
        let key = CacheKey(
            tenant: job.tenant,
            skill: job.skill,
            version: version.manifest.version,
            era: entry.era,
            digest: digest
        )
        return (key, identity.privacy == .ask)
    }

    /// A worker has ended the job. `record` is what it ended with.
    mutating func landed(_ job: Job, _ record: (kind: EventKind, payload: [UInt8])?, by worker: Worker?, now: UInt64) {
        guard let flight = job.flight, flight.leader === job else { return leave(job, now: now) }
        guard let record, record.kind == .finished,
            var finished = try? JSONBody.decode(JobFinished.self, from: record.payload)
        else { return leave(job, now: now) }
        finished.cached = true
        finished.milliseconds = 0
        guard let payload = try? finished.encoded() else { return leave(job, now: now) }
        close(flight)
        job.flight = nil
        let manifest = worker?.registration.manifests.first { $0.id == job.skill }
        if manifest?.version == flight.key.version, finished.provisional != true {
            cache.store(payload, text: finished.output.text, for: flight.key, until: now + flight.lifetime)
        }
        for follower in flight.followers {
            cache.bytesWaiting -= follower.size
            follower.flight = nil
            finish(follower, payload, text: finished.output.text, now: now)
        }
    }

    /// A job has no part in a flight any more. Who waited for it goes on without it: one of them is the first if it was
    /// given up, all of them start if it failed.
    mutating func leave(_ job: Job, now: UInt64) {
        guard let flight = job.flight else { return }
        job.flight = nil
        if flight.leader !== job {
            flight.followers.removeAll { $0 === job }
            cache.bytesWaiting -= job.size
            return
        }
        close(flight)
        var left = flight.followers
        for follower in left {
            cache.bytesWaiting -= follower.size
            follower.flight = nil
        }
        if job.isCancelled || jobs[job.id] == nil, let next = left.first {
            let flight = Flight(key: flight.key, leader: next, lifetime: flight.lifetime)
            flight.followers = Array(left.dropFirst())
            cache.flights[flight.key] = flight
            next.flight = flight
            for follower in flight.followers {
                cache.bytesWaiting += follower.size
                follower.flight = flight
            }
            left = [next]
        }
        for follower in left { startAlone(follower, now: now) }
    }

    /// Nobody joins it any more.
    private mutating func close(_ flight: Flight) {
        if cache.flights[flight.key] === flight { cache.flights[flight.key] = nil }
    }

    private mutating func startAlone(_ job: Job, now: UInt64) {
        guard let entry = registry.skills[job.skill] else { return fail(job, unknown(job.skill), now: now) }
        guard hasRoom(for: job, entry, now: now) else { return fail(job, overloaded(entry), now: now) }
        start(job, entry, now: now)
    }

    /// Ends a job with an output that is there already.
    private mutating func finish(_ job: Job, _ payload: [UInt8], text: String, now: UInt64) {
        var record = EventRecordWriter()
        if !text.isEmpty { record.append(.delta, text: text) }
        record.append(.finished, payload)
        end(job, .finished, record, payload, now: now)
    }
}
