import Bus

/// Messages between having been read and being passed on, in the order of reading. An array of its own kind, since
/// Swift's holds only what can be copied, and copying is what is avoided here.
struct PassingMessages: ~Copyable {
    private var slots: UnsafeMutablePointer<Incoming?>
    private var capacity = 64
    private var count = 0
    /// Bytes of those that have more than one frame.
    private(set) var bytes = 0

    init() { slots = .allocate(capacity: capacity) }

    deinit {
        slots.deinitialize(count: count)
        slots.deallocate()
    }

    /// Keeps a message until it is taken, and tells its place.
    mutating func add(_ message: consuming Incoming) -> Int {
        if count == capacity { grow() }
        bytes += message.furtherBytes
        (slots + count).initialize(to: consume message)
        count += 1
        return count - 1
    }

    /// Gives the message at that place away; nil if there is none, or no longer.
    mutating func take(_ place: Int) -> Incoming? {
        guard place < count else { return nil }
        return slots[place].take()
    }

    /// Begins anew.
    mutating func removeAll() {
        slots.deinitialize(count: count)
        count = 0
        bytes = 0
    }

    private mutating func grow() {
        let wider = UnsafeMutablePointer<Incoming?>.allocate(capacity: capacity * 2)
        wider.moveInitialize(from: slots, count: count)
        slots.deallocate()
        slots = wider
        capacity *= 2
    }
}
