internal import Synchronization

/// C objects that are costly to make and serve one caller at a time: taken for a call, and put back after it.
///
/// As many are made as calls run at once; they live as long as the process.
final class Pool: Sendable {
    /// An object's address.
    ///
    /// Unchecked, because a pointer is not `Sendable` by itself: an object is either in `idle` or on loan to one caller,
    /// never both, and the mutex orders what one caller did before what the next one does.
    private struct Member: @unchecked Sendable {
        let object: OpaquePointer
    }

    private let idle = Mutex<[Member]>([])
    private let make: @Sendable () -> OpaquePointer?

    /// A pool of what `make` makes.
    init(_ make: @escaping @Sendable () -> OpaquePointer?) { self.make = make }

    /// Runs `body` with an object of its own; nil when none can be made.
    func with<Value>(_ body: (OpaquePointer) -> Value) -> Value? {
        guard let member = idle.withLock({ $0.popLast() }) ?? make().map(Member.init) else { return nil }
        defer { idle.withLock { $0.append(member) } }
        return body(member.object)
    }
}
