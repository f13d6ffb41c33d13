import Bus
import Credentials
import Glibc
import Intent
import Lifecycle
import Telemetry
import Wire

/// The router: knows skills by their manifests, chooses among them, and gives their workers jobs.
@main
enum Router {
    static let version = Product.version

    static let command = Command(
        "skillbus-router",
        "routes requests to skills and jobs to workers",
        options: [
            .value(
                "frontend",
                "ADDRESS",
                "where gateways connect",
                environment: "SKILLBUS_FRONTEND",
                default: "tcp://127.0.0.1:\(RouterAddress.frontendPort)"
            ),
            .value(
                "backend",
                "ADDRESS",
                "where workers connect",
                environment: "SKILLBUS_BACKEND",
                default: "tcp://127.0.0.1:\(RouterAddress.backendPort)"
            ),
            .value("heartbeat", "MILLISECONDS", "time between heartbeats", default: "1000"),
            .value("liveness", "N", "heartbeats of silence after which a peer is gone", default: "3"),
            .value(
                "max-wait",
                "SECONDS",
                "what would wait longer for a worker is refused; 0 queues as many as there is room for",
                environment: "SKILLBUS_MAX_WAIT",
                default: "10"
            ),
            .value(
                "cache",
                "MB",
                "outputs that may be used again, by what skills say of them; 0 keeps none",
                environment: "SKILLBUS_CACHE",
                default: "64"
            ),
            .value("drain", "SECONDS", "time that running jobs get on SIGTERM", default: "50"),
            .value(
                "key",
                "FILE",
                "the router's secret key; peers need one as well then",
                environment: "SKILLBUS_KEY_FILE"
            ),
            .value(
                "allowed",
                "FILE",
                "keys that are let in (default: \"allowed\" beside the key)",
                environment: "SKILLBUS_ALLOWED_KEYS"
            ),
            .value(
                "thresholds",
                "FILE",
                "which scores mean a skill, as `skillbus route --fit` prints them",
                environment: "SKILLBUS_ROUTING_THRESHOLDS"
            ),
            .flag(
                "allow-insecure",
                "allow addresses that others can reach without keys",
                environment: "SKILLBUS_ALLOW_INSECURE"
            ),
            .flag("health", "ask the router at --backend whether it answers; exit 0 if so"),
            .flag("exit-with-parent", "end when standard input closes"),
        ],
        details: """
            An address is tcp://HOST:PORT (port * picks a free one) or ipc://PATH. When both are bound, one line
            `ready {"frontend": "...", "backend": "..."}` is printed.
            `skillbus keys new` makes keys. SIGHUP reads the list of those let in anew.
            """
    )

    static func main() async {
        let signals = terminationSignals(and: [SIGHUP])
        let options: ParsedOptions
        var settings: RouterLoop.Settings
        do {
            options = try command.parse(Array(CommandLine.arguments.dropFirst()))
            if options.wantsHelp {
                printOutput(command.help, terminator: "")
                leave(ExitCode.success)
            }
            if options.wantsVersion {
                printOutput("skillbus-router \(version)")
                leave(ExitCode.success)
            }
            settings = try self.settings(options)
        } catch {
            printError("skillbus-router: \(error)")
            leave(ExitCode.usage)
        }
        if options.flag("health") {
            leave(await RouterHealth.answers(at: settings.backend, access: settings.access) ? 0 : 1)
        }
        if options.flag("exit-with-parent") { exitWhenParentDies() }
        await serve(settings, signals: signals)
    }

    static func settings(_ options: ParsedOptions) throws(UsageError) -> RouterLoop.Settings {
        if let operand = options.operands.first { throw UsageError("takes no operands, got \"\(operand)\"") }
        var settings = RouterLoop.Settings(
            frontend: options.value("frontend") ?? "",
            backend: options.value("backend") ?? ""
        )
        settings.heartbeat = UInt64(try options.integer("heartbeat", in: 50...60_000) ?? 1000)
        settings.liveness = UInt64(try options.integer("liveness", in: 2...100) ?? 3)
        settings.longestWait = UInt64(min(try options.seconds("max-wait", orZero: true) ?? 10, 86_400) * 1000)
        settings.cacheBytes = (try options.integer("cache", in: 0...100_000) ?? 64) * 1_000_000
        settings.drainLimit = UInt64((try options.seconds("drain") ?? 50) * 1000)
        if let key = options.value("key") {
            do throws(CredentialError) {
                let list = options.value("allowed") ?? KeyFolder.list(besideKey: key)
                settings.access = try BusAccess(keyFile: key, listFile: list)
            } catch {
                throw UsageError("--key: \(error)")
            }
        }
        if let file = options.value("thresholds") {
            do {
                settings.thresholds = try RoutingThresholds(file: file)
            } catch {
                throw UsageError("--thresholds: \(error)")
            }
        }
        for (name, address) in [("frontend", settings.frontend), ("backend", settings.backend)] {
            guard address.hasPrefix("tcp://") || address.hasPrefix("ipc://") else {
                throw UsageError("--\(name) must be tcp://HOST:PORT or ipc://PATH, not \"\(address)\"")
            }
            let isGuarded = RouterAddress.isLocal(address) || settings.access != nil
            guard isGuarded || options.flag("allow-insecure") || options.flag("health") else {
                throw UsageError(
                    "--\(name) \(address) can be reached from other machines, and the bus has no keys: anyone there "
                        + "could send jobs. Make keys with `skillbus keys new` and pass --key FILE, bind 127.0.0.1 or "
                        + "ipc://, or pass --allow-insecure (SKILLBUS_ALLOW_INSECURE=1) on a network that only these "
                        + "services share"
                )
            }
        }
        return settings
    }

    private static func serve(_ settings: RouterLoop.Settings, signals: AsyncStream<Int32>) async -> Never {
        FileLimit.raise()
        let log = Log(service: "router")
        let (endings, ending) = AsyncStream<Int32>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let loop: RouterLoop
        do {
            loop = try RouterLoop(settings, log: log)
        } catch {
            printError("skillbus-router: \(error)")
            leave(ExitCode.failure)
        }
        startThread(named: "router") {
            do throws(BusError) {
                try loop.run { bound in
                    log.info(
                        "listening",
                        [
                            "frontend": "\(bound.frontend)", "backend": "\(bound.backend)",
                            "keys": .bool(settings.access != nil), "zmq": .text(Context.libraryVersion),
                        ]
                    )
                    ServiceManager.notifyReady()
                    printOutput(#"ready {"frontend":"\#(bound.frontend)","backend":"\#(bound.backend)"}"#)
                }
                ending.yield(ExitCode.success)
            } catch {
                printError("skillbus-router: \(error)\(hint(error))")
                ending.yield(ExitCode.failure)
            }
        }
        ServiceManager.keepAlive(turns: { loop.turns.value }, wake: loop.wake)
        let watcher = Task { [terminal = StartingTerminal()] in
            var count = 0
            for await signal in signals {
                guard signal != SIGHUP || terminal.isGone else {
                    loop.reload()
                    continue
                }
                count += 1
                if count == 1 { ServiceManager.notifyStopping() }
                if count == 1 { loop.drain() } else { loop.stop() }
            }
        }
        for await code in endings {
            watcher.cancel()
            if code == ExitCode.success { log.info("stopped") }
            leave(code)
        }
        leave(ExitCode.failure)
    }

    private static func hint(_ error: BusError) -> String {
        error.isAddressInUse
            ? "; another process listens there: stop it, or choose other addresses with --frontend and --backend" : ""
    }
}
