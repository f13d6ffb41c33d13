internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// How many descriptors of another thread were closed while the closure ran some thousand times: whoever closes a number
/// twice closes what another thread has opened in between.
public func descriptorsOfOthersClosed(by body: () -> Void) -> Int {
    final class Witness: Sendable {
        let goesOn = Atomic(true)
        let lost = Atomic(0)
        let ended = DispatchSemaphore(value: 0)
    }
    let witness = Witness()
    thread {
        while witness.goesOn.load(ordering: .relaxed) {
            let descriptor = eventfd(0, Int32(EFD_CLOEXEC))
            if descriptor >= 0, close(descriptor) != 0 { witness.lost.add(1, ordering: .relaxed) }
        }
        witness.ended.signal()
    }
    for _ in 0..<5000 { body() }
    witness.goesOn.store(false, ordering: .relaxed)
    witness.ended.wait()
    return witness.lost.load(ordering: .relaxed)
}
