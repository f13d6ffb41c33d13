internal import CCurl
internal import Glibc
internal import Lifecycle
internal import Synchronization

/// The one thread that owns all libcurl handles of this process. Others reach it through a queue and a wake-up, so that
/// a cancel closes its connection at once, also when nothing is being received.
final class TransferLoop: Sendable {
    static let shared = TransferLoop()

    private enum Command {
        case start(TransferRequest, Exchange)
        case resume(Exchange)
        case cancel(Exchange)
        case lookAtDeadlines
    }
    private let commands = Mutex<[Command]>([])
    // Only the thread uses it, apart from curl_multi_wakeup, which libcurl allows from any thread. It is never freed:
    // the loop lives as long as the process.
    nonisolated(unsafe) private let multi: UnsafeMutableRawPointer

    private init() {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let multi = curl_multi_init() else { preconditionFailure("curl_multi_init: out of memory") }
        self.multi = multi
        startThread(named: "http") { [self] in run() }
    }

    func start(_ request: TransferRequest, _ exchange: Exchange) { put(.start(request, exchange)) }
    func resume(_ exchange: Exchange) { put(.resume(exchange)) }
    func cancel(_ exchange: Exchange) { put(.cancel(exchange)) }
    func lookAtDeadlines() { put(.lookAtDeadlines) }

    /// The clock of deadlines.
    static var milliseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }

    private func put(_ command: Command) {
        commands.withLock { $0.append(command) }
        curl_multi_wakeup(multi)
    }

    private func run() {
        var transfers: [ObjectIdentifier: Transfer] = [:]
        // No deadline passes before; those that were set later since are found when it is there.
        var nextLook = UInt64.max
        while true {
            let taken = commands.withLock { commands in
                defer { commands = [] }
                return commands
            }
            for command in taken { carryOut(command, &transfers, &nextLook) }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            endWhatIsDone(&transfers)
            let now = TransferLoop.milliseconds
            if nextLook <= now { nextLook = endWhatIsLate(&transfers, now) }
            if commands.withLock({ $0.isEmpty }) {
                curl_multi_poll(multi, nil, 0, Int32(min(60_000, max(nextLook, now) - now)), nil)
            }
        }
    }

    private func carryOut(
        _ command: Command,
        _ transfers: inout [ObjectIdentifier: Transfer],
        _ nextLook: inout UInt64
    ) {
        switch command {
        case .start(let request, let exchange):
            guard let transfer = Transfer(request, exchange) else {
                exchange.ended(.failure(.unreachable(reason: "out of memory")))
                return
            }
            transfers[ObjectIdentifier(exchange)] = transfer
            curl_multi_add_handle(multi, transfer.handle)
            nextLook = min(nextLook, exchange.deadline)
        case .resume(let exchange):
            if let transfer = transfers[ObjectIdentifier(exchange)] { ccurl_continue(transfer.handle) }
        case .cancel(let exchange):
            if let transfer = transfers.removeValue(forKey: ObjectIdentifier(exchange)) {
                curl_multi_remove_handle(multi, transfer.handle)
            }
            exchange.ended(.failure(.cancelled))
        case .lookAtDeadlines: nextLook = 0
        }
    }

    private func endWhatIsDone(_ transfers: inout [ObjectIdentifier: Transfer]) {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            let code = ccurl_result(message)
            guard let context = ccurl_context(handle) else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            curl_multi_remove_handle(multi, handle)
            transfers[ObjectIdentifier(transfer.exchange)] = nil
            transfer.exchange.ended(transfer.result(code))
        }
    }

    /// Returns when to look again.
    private func endWhatIsLate(_ transfers: inout [ObjectIdentifier: Transfer], _ now: UInt64) -> UInt64 {
        var next = UInt64.max
        var late: [Transfer] = []
        for transfer in transfers.values {
            let deadline = transfer.exchange.deadline
            if deadline <= now { late.append(transfer) } else { next = min(next, deadline) }
        }
        for transfer in late {
            transfers[ObjectIdentifier(transfer.exchange)] = nil
            curl_multi_remove_handle(multi, transfer.handle)
            transfer.exchange.ended(.failure(.late))
        }
        return next
    }
}
