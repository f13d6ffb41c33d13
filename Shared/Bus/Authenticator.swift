public import Credentials
internal import Synchronization

/// Says who may connect to the CURVE sockets of a context: the handler of ZAP (RFC 27), on a thread of its own.
///
/// libzmq asks it once for each connection, during the handshake; until it has answered, and where it does not, nothing
/// of the peer is read. What it lets in gets a number, which every message of the connection then carries
/// (``Incoming/keyNumber``).
public final class Authenticator: Sendable {
    /// The sockets that ask: those with this domain.
    static let domain = "skillbus"
    private static let address = "inproc://zeromq.zap.01"

    /// What is known of a peer that was not let in.
    public struct Stranger: Sendable {
        /// Where it comes from.
        public let address: String
        /// Its key; nil when it has none.
        public let key: PublicKey?
    }

    private let wakeUp: WakeUp
    private let isStopped = Mutex(false)
    private let hasEnded = Semaphore()

    /// Starts to answer; when this returns, sockets may be bound.
    /// - Parameters:
    ///   - context: whose sockets ask.
    ///   - admit: the number of a key that may connect, nil for any other. Called on the handler's thread.
    ///   - onStranger: called for each peer that is not let in.
    ///   - onFailure: called when it cannot go on. Nobody is let in from then on: the process should end.
    /// - Throws: `BusError` when there is another handler, or no socket.
    public init(
        in context: Context,
        admit: @escaping @Sendable (PublicKey) -> UInt32?,
        onStranger: @escaping @Sendable (Stranger) -> Void,
        onFailure: @escaping @Sendable (BusError) -> Void
    ) throws(BusError) {
        wakeUp = try WakeUp()
        let started = Semaphore()
        let report = Start(started: started)
        runThread(named: "zap") { [self] in
            defer { hasEnded.signal() }
            do throws(BusError) {
                let socket = try Socket(.answering, in: context)
                _ = try socket.bind(Authenticator.address)
                report.finish(nil)
                try serve(socket, admit: admit, onStranger: onStranger)
            } catch {
                if !report.finish(error) { onFailure(error) }
            }
        }
        started.wait()
        if let error = report.error { throw error }
    }

    /// Ends the thread, and waits for that. Close the sockets first.
    public func stop() {
        isStopped.withLock { $0 = true }
        wakeUp.signal()
        hasEnded.wait()
    }

    private func serve(
        _ socket: borrowing Socket,
        admit: (PublicKey) -> UInt32?,
        onStranger: (Stranger) -> Void
    ) throws(BusError) {
        var poller = Poller()
        try poller.add(socket)
        poller.add(wakeUp)
        while !isStopped.withLock({ $0 }) {
            try poller.wait(milliseconds: nil)
            while let question = try ZAPQuestion(from: socket) {
                let number = question.key.flatMap(admit)
                if number == nil { onStranger(Stranger(address: question.address, key: question.key)) }
                try question.answer(number, on: socket)
            }
        }
    }

    /// Tells the starter how it went, once.
    private final class Start: Sendable {
        private let state: Mutex<(isDone: Bool, error: BusError?)>
        private let started: Semaphore

        init(started: Semaphore) {
            self.started = started
            state = Mutex((false, nil))
        }

        var error: BusError? { state.withLock { $0.error } }

        @discardableResult
        func finish(_ error: BusError?) -> Bool {
            let isFirst = state.withLock { state in
                defer { if !state.isDone { state = (true, error) } }
                return !state.isDone
            }
            if isFirst { started.signal() }
            return isFirst
        }
    }
}

/// One question of libzmq: version, number, domain, address, routing id, mechanism, and for CURVE the key.
private struct ZAPQuestion {
    let number: [UInt8]
    let address: String
    /// Nil for anything but a well-formed CURVE question of our domain.
    let key: PublicKey?

    /// The next one; nil when none waits.
    init?(from socket: borrowing Socket) throws(BusError) {
        guard var frame = try socket.receive() else { return nil }
        var frames = [frame.bytes()]
        while frame.isFollowed {
            guard let next = try socket.receive() else { break }
            frame = next
            // A sender within this process; all the same no list without end.
            if frames.count < 16 { frames.append(frame.bytes()) }
        }
        number = frames.count > 1 ? frames[1] : []
        address = frames.count > 3 ? String(decoding: frames[3], as: UTF8.self) : ""
        let isOurs =
            frames.count == 7 && frames[0] == Array("1.0".utf8) && frames[2] == Array(Authenticator.domain.utf8)
            && frames[5] == Array("CURVE".utf8)
        key = isOurs ? PublicKey(bytes: frames[6]) : nil
    }

    func answer(_ user: UInt32?, on socket: borrowing Socket) throws(BusError) {
        let parts = user.map { ["200", "OK", String($0)] } ?? ["400", "unknown key", ""]
        _ = try socket.send(Message(copying: Array("1.0".utf8)), more: true)
        _ = try socket.send(Message(copying: number), more: true)
        for part in parts { _ = try socket.send(Message(copying: Array(part.utf8)), more: true) }
        _ = try socket.send(Message())
    }
}
