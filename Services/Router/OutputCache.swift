import Credentials
import Wire

/// What a job's output depends on: equal for jobs that would have the same, and for no others.
struct CacheKey: Hashable {
    let tenant: UInt64
    let skill: String
    let version: String
    /// Rises when a skill's workers come back after all have gone: what they do may have changed.
    let era: UInt64
    /// Of all that the skill reads of the input.
    let digest: Digest
}

/// A job that runs, and others with the same input that wait for its output.
final class Flight {
    let key: CacheKey
    var leader: Job
    var followers: [Job] = []
    /// How long the output may be used, in milliseconds.
    let lifetime: UInt64

    init(key: CacheKey, leader: Job, lifetime: UInt64) {
        self.key = key
        self.leader = leader
        self.lifetime = lifetime
    }
}

/// Outputs of jobs that have finished, to answer others with the same input. Bounded in bytes: what was stored first goes
/// first.
struct OutputCache {
    private struct Entry {
        /// JSON `JobFinished`, marked as cached.
        let payload: [UInt8]
        let text: String
        let until: UInt64
        let number: UInt64
        var bytes: Int { payload.count + text.utf8.count + OutputCache.overhead }
    }

    /// Bytes that an entry takes beside its output.
    private static let overhead = 256
    /// Bytes of the input of a job that is looked at: what is larger takes longer to compare than is good for others.
    static let largestInput = 1024 * 1024
    /// Bytes of jobs that may wait for others.
    static let waitingBytes = Limits.queuedBytesPerSkill

    /// Most bytes that it holds; with 0 nothing is kept, and nobody waits for another.
    let limit: Int
    private var entries: [CacheKey: Entry] = [:]
    private var order: [(key: CacheKey, number: UInt64)] = []
    private var head = 0
    private var stored: UInt64 = 0
    /// Bytes that it holds.
    private(set) var bytes = 0
    /// Jobs that run, by what their output depends on.
    var flights: [CacheKey: Flight] = [:]
    /// Bytes of the jobs that wait for others.
    var bytesWaiting = 0

    init(limit: Int) { self.limit = limit }

    /// How many outputs it holds.
    var count: Int { entries.count }

    /// The output for a key, as the payload of a finished record, and its text.
    mutating func output(for key: CacheKey, now: UInt64) -> (payload: [UInt8], text: String)? {
        guard let entry = entries[key] else { return nil }
        guard now < entry.until else {
            remove(key)
            return nil
        }
        return (entry.payload, entry.text)
    }

    /// Keeps an output for a while. One that would take more than an eighth of the room is not kept.
    mutating func store(_ payload: [UInt8], text: String, for key: CacheKey, until: UInt64) {
        stored += 1
        let entry = Entry(payload: payload, text: text, until: until, number: stored)
        guard entry.bytes <= limit / 8 else { return }
        remove(key)
        while bytes + entry.bytes > limit, let first = oldest() { remove(first) }
        entries[key] = entry
        order.append((key, stored))
        bytes += entry.bytes
    }

    /// Forgets the oldest whose time is over.
    mutating func expire(now: UInt64) {
        while let first = oldest(), let entry = entries[first], now >= entry.until { remove(first) }
    }

    /// The key that was stored first.
    private mutating func oldest() -> CacheKey? {
        while head < order.count {
            let (key, number) = order[head]
            if entries[key]?.number == number { return key }
            head += 1
            if head > 1024, head > order.count / 2 {
                order.removeFirst(head)
                head = 0
            }
        }
        return nil
    }

    private mutating func remove(_ key: CacheKey) {
        if let entry = entries.removeValue(forKey: key) { bytes -= entry.bytes }
    }
}
