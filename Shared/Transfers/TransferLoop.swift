internal import CCurl
internal import CLinux
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
        case lookAtDeadlines(at: UInt64)
    }
    private let commands = Mutex<[Command]>([])
    // Only the thread uses it. It is never freed, and the descriptors are never closed: the loop lives as long as the process.
    nonisolated(unsafe) private let multi: UnsafeMutableRawPointer
    /// What libcurl waits for: a set that the kernel keeps, since to name hundreds of connections for each piece that one of
    /// them gets costs far more than the piece.
    private let sockets: Int32
    /// Becomes readable when there are commands.
    private let wakeUp: Int32

    private init() {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        sockets = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeUp = WakeUpDescriptor.make()
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: wakeUp))
        guard let multi = curl_multi_init(), epoll_ctl(sockets, EPOLL_CTL_ADD, wakeUp, &event) == 0 else {
            preconditionFailure("out of memory or descriptors")
        }
        self.multi = multi
        ccurl_watch_by(multi, sockets)
        startThread(named: "http") { [self] in run() }
    }

    func start(_ request: TransferRequest, _ exchange: Exchange) { put(.start(request, exchange)) }
    func resume(_ exchange: Exchange) { put(.resume(exchange)) }
    func cancel(_ exchange: Exchange) { put(.cancel(exchange)) }
    /// - Parameter time: of ``milliseconds``, when a deadline may have passed that was not known of before.
    func lookAtDeadlines(at time: UInt64) { put(.lookAtDeadlines(at: time)) }

    /// The clock of deadlines.
    static var milliseconds: UInt64 { microseconds / 1000 }

    private static var microseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    private func put(_ command: Command) {
        let isFirst = commands.withLock { commands in
            commands.append(command)
            return commands.count == 1
        }
        // The thread takes all there are: it has been woken for those before.
        if isFirst { WakeUpDescriptor.signal(wakeUp) }
    }

    private func run() {
        var transfers: [ObjectIdentifier: Transfer] = [:]
        // No deadline passes before; those that were set later since are found when it is there.
        var nextLook = UInt64.max
        let load = TransferLoad()
        var found = [epoll_event](repeating: epoll_event(), count: 64)
        while true {
            let taken = commands.withLock { commands in
                defer { commands = [] }
                return commands
            }
            for command in taken { carryOut(command, &transfers, &nextLook, load) }
            if timeUntilTurn == 0 { turn(Int32(CURL_SOCKET_TIMEOUT), 0) }
            endWhatIsDone(&transfers)
            let now = TransferLoop.milliseconds
            if nextLook <= now { nextLook = endWhatIsLate(&transfers, now) }
            let pause = min(timeUntilTurn ?? 60_000, 60_000, max(nextLook, now) - now)
            let count = epoll_wait(sockets, &found, Int32(found.count), Int32(pause))
            for event in found.prefix(max(0, Int(count))) {
                if event.events & EPOLLOUT.rawValue != 0 { load.pace.hasSent = true }
                handle(event)
            }
            let rest = load.pace.rest(after: Int(count), at: TransferLoop.microseconds)
            if rest > 0 { usleep(UInt32(clamping: rest)) }
        }
    }

    /// Milliseconds until libcurl wants its turn, whatever happens on its sockets; nil for never.
    private var timeUntilTurn: UInt64? {
        var milliseconds = -1
        curl_multi_timeout(multi, &milliseconds)
        return milliseconds < 0 ? nil : UInt64(milliseconds)
    }

    private func turn(_ socket: Int32, _ what: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, what, &running)
    }

    private func handle(_ event: epoll_event) {
        if event.data.fd == wakeUp {
            WakeUpDescriptor.clear(wakeUp)
            return
        }
        var what: Int32 = 0
        if event.events & EPOLLIN.rawValue != 0 { what |= CURL_CSELECT_IN }
        if event.events & EPOLLOUT.rawValue != 0 { what |= CURL_CSELECT_OUT }
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { what |= CURL_CSELECT_ERR }
        turn(event.data.fd, what)
    }

    private func carryOut(
        _ command: Command,
        _ transfers: inout [ObjectIdentifier: Transfer],
        _ nextLook: inout UInt64,
        _ load: TransferLoad
    ) {
        switch command {
        case .start(let request, let exchange):
            guard let transfer = Transfer(request, exchange, load) else {
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
        case .lookAtDeadlines(let time): nextLook = min(nextLook, time)
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
