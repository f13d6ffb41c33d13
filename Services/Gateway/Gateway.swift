internal import Bus
internal import Credentials
internal import Glibc
internal import HTTPServer
internal import Lifecycle
internal import SessionStore
internal import Synchronization
internal import Telemetry
internal import Wire

/// `skillbus-gateway`: options, start, drain. What it does is in `SessionService` and `GatewayRoutes`.
@main
enum Gateway {
    static func main() async {
        let signals = terminationSignals(and: [SIGHUP])
        Memory.returnLargeBlocks()
        let settings: Settings
        do throws(UsageError) {
            let options = try Settings.command.parse(Array(CommandLine.arguments.dropFirst()))
            if options.wantsHelp { return _ = printOutput(Settings.command.help, terminator: "") }
            if options.wantsVersion { return _ = printOutput("skillbus-gateway \(Product.version)") }
            guard options.operands.isEmpty else {
                throw UsageError("unexpected \"\(options.operands[0])\"; see skillbus-gateway --help")
            }
            settings = try Settings(options)
            if options.flag("health") {
                leave(
                    HealthProbe.isReady(host: settings.host, port: settings.port) ? ExitCode.success : ExitCode.failure
                )
            }
            if options.flag("check") { leave(await StoreCheck.run(settings, asJSON: options.flag("json"))) }
            if options.flag("exit-with-parent") { exitWhenParentDies() }
        } catch {
            printError("skillbus-gateway: \(error)")
            leave(ExitCode.usage)
        }
        let log = Log(service: "gateway")
        let terminal = StartingTerminal()
        let running = Mutex<RunningGateway?>(nil)
        // From the beginning: a store that is waited for must not keep the process.
        let watch = Task { await obey(signals, running, terminal) }
        do {
            let gateway = try await RunningGateway(settings, log: log)
            running.withLock { $0 = gateway }
            try gateway.announce(to: settings.readyFile)
            ServiceManager.notifyReady()
            gateway.keepAlive()
            await watch.value
        } catch {
            printError("skillbus-gateway: \(error)")
            leave(ExitCode.failure)
        }
    }

    /// Does what signals ask for.
    private static func obey(
        _ signals: AsyncStream<Int32>,
        _ running: borrowing Mutex<RunningGateway?>,
        _ terminal: StartingTerminal
    ) async {
        var isDraining = false
        for await signal in signals {
            let gateway = running.withLock { $0 }
            guard signal != SIGHUP || terminal.isGone else {
                gateway?.reload()
                continue
            }
            // There is nothing to finish yet.
            guard let gateway else { leave(ExitCode.success) }
            // Whoever asks twice means now.
            if isDraining { leave(ExitCode.failure) }
            isDraining = true
            ServiceManager.notifyStopping()
            Task {
                await gateway.drain()
                leave(ExitCode.success)
            }
        }
    }
}

/// A gateway that serves.
struct RunningGateway {
    /// How long answers that are being given may take to come to their end.
    private static let drainTime = Duration.seconds(2)

    private let service: SessionService
    private let server: HTTPServer
    private let settings: Settings
    private let log: Log

    /// Opens the store, takes up what is open, listens, and connects to the routers. When this returns, the port takes
    /// requests, whether a router is there or not.
    init(_ settings: Settings, log: Log) async throws {
        FileLimit.raise()
        let (store, name) = try await OpenedStore.open(settings, log: log)
        let service = try SessionService(
            store: store,
            name: name,
            key: settings.key,
            log: log,
            quota: settings.quota,
            privacy: settings.privacy,
            memorySkill: settings.memorySkill
        )
        try await service.restore()
        service.keepOnly(settings.retention)
        let access = HTTPAccess(address: settings.host, tokens: settings.tokens, origins: settings.origins)
        let streams = StreamLimit(settings.streams)
        let routes = GatewayRoutes(sessions: service, access: access, log: log, streams: streams)
        server = try HTTPServer(
            address: settings.host,
            port: settings.port,
            limits: GatewayRoutes.limits(streams: settings.streams)
        ) { request in
            await routes.respond(to: request)
        }
        try service.connect(settings.routers)
        self.service = service
        self.settings = settings
        self.log = log
        if !settings.isLocal, settings.tokens == nil {
            log.warning("others can reach this gateway, and it asks for no token", ["address": .text(settings.host)])
        }
        log.info(
            "listening",
            [
                "url": .text(url), "version": .text(Product.version),
                "state": .text(settings.store?.shown ?? settings.state),
                "routers": .text(settings.routers.joined(separator: ",")), "zmq": .text(Context.libraryVersion),
            ]
        )
    }

    /// Where clients reach it. Behind a wildcard that is loopback.
    var url: String {
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][settings.host] ?? settings.host
        return "http://\(host.contains(":") ? "[\(host)]" : host):\(server.port)"
    }

    /// Says where it is, for those who wait for it.
    /// - Throws: `StoreError` when the file cannot be written.
    func announce(to file: String?) throws(StoreError) {
        var json = JSONText()
        json.raw(#"{"url":"#)
        json.string(url)
        json.raw("}")
        let text = String(decoding: json.bytes, as: UTF8.self)
        guard let file else { return _ = printOutput("ready \(text)") }
        try SmallFile.write(text + "\n", to: file)
    }

    /// A service manager sees that it is alive by answers of the store's readers, which come by way of the tasks that
    /// answer clients.
    func keepAlive() {
        let turns = TurnCount()
        ServiceManager.keepAlive(turns: { turns.value }) { [service] in
            Task {
                await service.look()
                turns.add()
            }
        }
    }

    /// Reads the tokens anew. A list that cannot be read changes nothing.
    func reload() {
        guard let tokens = settings.tokens else { return log.info("no tokens are asked for: nothing to read anew") }
        do throws(CredentialError) {
            try tokens.reload()
            log.info("the tokens have been read anew")
        } catch {
            log.error("the tokens stay as they were", ["reason": "\(error)"])
        }
    }

    /// Stops in order: nothing new, streams end, what is written stays.
    func drain() async {
        log.info("draining")
        service.stopTaking()
        await server.stop(within: RunningGateway.drainTime)
        await service.close()
        log.info("stopped")
    }
}
