import Bus
import Wire

/// An event on its way through: a message that came in, or the part of a BATCH that is one.
struct Passage {
    /// The place of what came in.
    let place: Int
    /// Nil for all of it.
    var part: Range<Int>?
}

/// Messages between having been read and being passed on, in the order of reading. An array of its own kind, since
/// Swift's holds only what can be copied, and copying is what is avoided here.
struct PassingMessages: ~Copyable {
    private var slots: UnsafeMutablePointer<Incoming?>
    private var capacity = 64
    /// How many there are: the place of the next one.
    private(set) var count = 0
    /// Bytes of those that have more than one frame, or are a BATCH.
    private(set) var bytes = 0

    init() { slots = .allocate(capacity: capacity) }

    deinit {
        slots.deinitialize(count: count)
        slots.deallocate()
    }

    /// Keeps a message until it is taken, and tells its place.
    mutating func add(_ message: consuming Incoming) -> Int {
        if count == capacity { grow() }
        var message = message
        bytes += message.header.type == .batch ? message.firstCount : message.furtherBytes
        (slots + count).initialize(to: consume message)
        count += 1
        return count - 1
    }

    /// Whether what passes is small enough for a BATCH.
    func isSmall(_ passage: Passage) -> Bool {
        if let part = passage.part { return part.count <= Limits.batchedMessage }
        guard passage.place < count else { return false }
        return slots[passage.place]?.isSmall ?? false
    }

    /// Bytes of the first frame of what passes.
    func size(_ passage: Passage) -> Int {
        if let part = passage.part { return part.count }
        guard passage.place < count else { return 0 }
        return slots[passage.place]?.firstCount ?? 0
    }

    /// Adds what passes to a BATCH that has room for it.
    func append(_ passage: Passage, to batch: inout BatchWriter) {
        guard passage.place < count else { return }
        slots[passage.place]?.append(passage.part, to: &batch)
    }

    /// Sends what passes by itself, if it has not been sent yet.
    func send(_ passage: Passage, on socket: borrowing Socket, to peer: Peer) throws(BusError) {
        guard passage.place < count else { return }
        guard let part = passage.part else {
            if let message = slots[passage.place].take() { _ = try message.forward(on: socket, to: peer) }
            return
        }
        guard let copy = slots[passage.place]?.copy(of: part) else { return }
        if try socket.address(peer) == .sent { _ = try socket.send(copy) }
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
