internal import CMicroHTTPD
internal import Glibc
internal import Lifecycle
internal import Synchronization

/// An HTTP/1.1 server: libmicrohttpd's event loop on one thread, handlers in Swift tasks.
///
/// A request is handed over when it has arrived whole and within the limits; until its answer is there the connection
/// is taken out of the event loop, so neither waiting requests nor open streams cost a thread or are polled.
public final class HTTPServer: Sendable {
    /// Answers a request. It runs in a task that is cancelled when the client of a streamed answer leaves.
    public typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

    /// How long a client may take nothing of a stream when the server stops.
    private static let stallTime = Duration.milliseconds(300)

    /// The port it listens on.
    public let port: Int
    /// The address it listens on, as it was given.
    public let address: String
    private let core: HTTPServerCore

    /// Listens and serves from the moment this returns.
    /// - Parameters:
    ///   - address: A numeric address or a name of this host; `0.0.0.0` and `::` are every interface.
    ///   - port: 0 takes a free one; see ``port``.
    ///   - limits: What a client may send and how long it may take.
    ///   - handler: Called for each request.
    /// - Throws: ``HTTPServerError``, naming the port.
    public init(
        address: String = "127.0.0.1",
        port: Int,
        limits: HTTPLimits = HTTPLimits(),
        handler: @escaping Handler
    ) throws(HTTPServerError) {
        let socket = try ListeningSocket.open(address: address, port: port)
        guard let core = HTTPServerCore(socket: socket.descriptor, limits: limits, handler: handler) else {
            close(socket.descriptor)
            throw .noThread
        }
        self.core = core
        self.address = address
        self.port = socket.port
    }

    deinit { core.stopNow() }

    /// Open connections.
    public var connectionCount: Int { core.watch.count }

    /// Takes no more connections, lets what is running come to its end, and stops.
    ///
    /// The tasks of streams are cancelled at once, and may say a last word to those who listen; whole answers are waited
    /// for. What has not ended when the time is up is cut off.
    public func stop(within limit: Duration) async {
        core.drain()
        let emptied = core.watch.emptied()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in emptied {} }
            group.addTask { [core] in
                let grace = min(HTTPServer.stallTime, limit)
                guard (try? await Task.sleep(for: grace)) != nil else { return }
                for connection in core.watch.connections { connection.exchange?.endIfStalled() }
                try? await Task.sleep(for: limit - grace)
            }
            await group.next()
            group.cancelAll()
        }
        await withCheckedContinuation { continuation in
            startThread(named: "http stop") { [core] in
                core.stopNow()
                continuation.resume()
            }
        }
    }
}

/// What the library's callbacks work on. It lives until the library's thread has ended.
final class HTTPServerCore: Sendable {
    let limits: HTTPLimits
    let handler: HTTPServer.Handler
    let watch: ConnectionWatch
    private let socket: Int32
    /// The library's daemon as a number; 0 when there is none.
    private let daemon = Mutex<UInt>(0)
    private let draining = Atomic(false)
    private let aborting = Atomic(false)
    private let largeBodies = Atomic(0)
    private let smallBodies = Atomic(0)

    init?(socket: Int32, limits: HTTPLimits, handler: @escaping HTTPServer.Handler) {
        guard let watch = ConnectionWatch(limits: limits) else { return nil }
        self.watch = watch
        self.socket = socket
        self.limits = limits
        self.handler = handler
        let context = Unmanaged.passRetained(self)
        let started = cmicrohttpd_start(
            socket,
            context.toOpaque(),
            HTTPServerCore.access,
            HTTPServerCore.target,
            HTTPServerCore.completed,
            HTTPServerCore.connection,
            // Some more than the limit, so that those above it get an answer instead of waiting in the backlog.
            UInt32(clamping: limits.connections + 64),
            UInt32(clamping: limits.idleTime.components.seconds),
            // Holds the headers and one piece of the body, or of the answer.
            max(64 * 1024, limits.header + limits.target + 16 * 1024)
        )
        guard let started else {
            context.release()
            return nil
        }
        daemon.withLock { $0 = UInt(bitPattern: started) }
        watch.start()
    }

    var isDraining: Bool { draining.load(ordering: .acquiring) }
    var isAborting: Bool { aborting.load(ordering: .sequentiallyConsistent) }

    func reserve(_ count: Int, large: Bool) -> Bool {
        if large { return largeBodies.add(count, ordering: .relaxed).newValue <= limits.bodies }
        return smallBodies.add(count, ordering: .relaxed).newValue <= limits.smallBodies
    }

    func release(_ count: Int, large: Bool) {
        if large {
            largeBodies.subtract(count, ordering: .relaxed)
        } else {
            smallBodies.subtract(count, ordering: .relaxed)
        }
    }

    /// Takes no more connections; ends streams and idle connections.
    func drain() {
        guard !draining.exchange(true, ordering: .acquiringAndReleasing) else { return }
        daemon.withLock { daemon in
            guard let daemon = OpaquePointer(bitPattern: daemon) else { return }
            _ = MHD_quiesce_daemon(daemon)
            ListeningSocket.stopListening(socket)
        }
        for connection in watch.connections {
            connection.exchange?.windDown()
            connection.closeIfIdle()
        }
    }

    /// Cuts off whatever is left, and ends the threads. Blocks for a moment; does nothing the second time.
    func stopNow() {
        drain()
        let handle = daemon.withLock { daemon in
            defer { daemon = 0 }
            return daemon
        }
        guard let stopping = OpaquePointer(bitPattern: handle) else { return }
        // The library ends the process if it is stopped with a suspended connection. From here on nothing is suspended
        // any more, and what is suspended is resumed.
        aborting.store(true, ordering: .sequentiallyConsistent)
        for connection in watch.connections { connection.exchange?.abort() }
        MHD_stop_daemon(stopping)
        close(socket)
        watch.stop()
        Unmanaged.passUnretained(self).release()
    }

    // MARK: The library's callbacks, all on its thread

    private static func core(_ context: UnsafeMutableRawPointer?) -> HTTPServerCore? {
        context.map { Unmanaged<HTTPServerCore>.fromOpaque($0).takeUnretainedValue() }
    }

    /// A connection begins or ends.
    private static let connection: MHD_NotifyConnectionCallback = { context, handle, slot, event in
        guard let core = core(context), let handle, let slot else { return }
        if cmicrohttpd_begins(event) != 0 {
            let descriptor = cmicrohttpd_socket(handle)
            let connection = core.watch.opened(descriptor: descriptor, peer: peer(of: descriptor))
            slot.pointee = Unmanaged.passRetained(connection).toOpaque()
        } else if let pointer = slot.pointee {
            let connection = Unmanaged<HTTPConnection>.fromOpaque(pointer).takeRetainedValue()
            slot.pointee = nil
            core.watch.closed(connection)
        }
    }

    private static func peer(of descriptor: Int32) -> String {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard cmicrohttpd_peer(descriptor, &text, text.count) == 0 else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A request line has arrived. What this returns comes back as the request's context.
    private static let target:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
            context,
            text,
            handle in
            guard let core = core(context), let handle, let pointer = cmicrohttpd_context(handle) else { return nil }
            let exchange = HTTPExchange(
                handle: UInt(bitPattern: handle),
                target: text.map { String(cString: $0) } ?? "",
                connection: Unmanaged<HTTPConnection>.fromOpaque(pointer).takeUnretainedValue(),
                core: core
            )
            core.watch.begin(exchange)
            return Unmanaged.passRetained(exchange).toOpaque()
        }

    private static let access: MHD_AccessHandlerCallback = { _, handle, _, method, version, data, size, slot in
        guard let handle, let method, let size, let pointer = slot?.pointee else { return .NO }
        let exchange = Unmanaged<HTTPExchange>.fromOpaque(pointer).takeUnretainedValue()
        let piece = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size.pointee)
        let needsHost = version.map { strcmp($0, "HTTP/1.1") == 0 } ?? false
        let result = exchange.advance(handle, method: method, needsHost: needsHost, piece: piece)
        // All of it is taken, always.
        size.pointee = 0
        return result
    }

    private static let completed: MHD_RequestCompletedCallback = { _, _, slot, _ in
        guard let slot, let pointer = slot.pointee else { return }
        slot.pointee = nil
        Unmanaged<HTTPExchange>.fromOpaque(pointer).takeRetainedValue().complete()
    }
}
