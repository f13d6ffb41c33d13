internal import Bus
internal import Credentials
internal import Lifecycle
internal import Synchronization
internal import Telemetry
internal import Wire

/// Runs skills as a worker process: command line, registration, credit, heartbeats, deadlines, cancellation, drain on
/// SIGTERM and reconnection.
public enum SkillWorker {
    /// Runs one skill until SIGTERM, and leaves the process.
    public static func run<S: Skill>(_ skill: S) async -> Never {
        await run(id: S.manifest.id, summary: S.manifest.displayName) { worker throws(WireError) in
            [try HostedSkill(skill, worker: worker)]
        }
    }

    /// Runs several skills in one process until SIGTERM, and leaves the process. They share its concurrency.
    public static func run<each S: Skill>(named name: String, _ skills: repeat each S) async -> Never {
        await run(id: name, summary: name) { worker throws(WireError) in
            var hosted: [HostedSkill] = []
            for skill in repeat each skills { hosted.append(try HostedSkill(skill, worker: worker)) }
            return hosted
        }
    }

    private static func command(_ id: String, _ summary: String) -> Command {
        Command(
            "skillbus-worker-\(id)",
            "\(summary), as a worker process",
            options: [
                .value(
                    "routers",
                    "LIST",
                    "routers: host[:port], tcp:// or ipc://; a name stands for all its addresses",
                    environment: "SKILLBUS_ROUTERS",
                    default: "127.0.0.1"
                ),
                .value(
                    "key",
                    "FILE",
                    "this worker's secret key, if the router asks for one",
                    environment: "SKILLBUS_KEY_FILE"
                ),
                .value("name", "NAME", "name shown to people (default: host and process id)"),
                .value(
                    "concurrency",
                    "N",
                    "jobs at a time (default: what the skill's manifest says)",
                    environment: "SKILLBUS_CONCURRENCY"
                ),
                .value("drain", "SECONDS", "time that running jobs get on SIGTERM", default: "50"),
                .flag("manifest", "print the manifest as JSON and leave"),
                .flag("health", "ask the router whether it has a worker of this host; exit 0 if so"),
                .flag("exit-with-parent", "end when standard input closes"),
            ]
        )
    }

    private static func run(
        id: String,
        summary: String,
        host: (String) throws(WireError) -> [HostedSkill]
    ) async -> Never {
        let signals = terminationSignals()
        let command = command(id, summary)
        let options: ParsedOptions
        let concurrency: Int?
        let drain: Double
        let endpoints: [String]
        var key: ClientKey?
        do {
            options = try command.parse(Array(CommandLine.arguments.dropFirst()))
            concurrency = try options.integer("concurrency", in: 1...1024)
            drain = try options.seconds("drain") ?? 50
            endpoints = try RouterAddress.endpoints(
                options.value("routers") ?? "",
                defaultPort: RouterAddress.backendPort
            )
            if let file = options.value("key") { key = try ClientKey.read(file) }
        } catch {
            printError("\(command.name): \(error)")
            leave(ExitCode.usage)
        }
        if options.wantsHelp {
            printOutput(command.help, terminator: "")
            leave(ExitCode.success)
        }
        if options.wantsVersion {
            printOutput("\(command.name) \(Product.version)")
            leave(ExitCode.success)
        }
        guard options.operands.isEmpty else {
            printError("\(command.name): takes no operands, got \"\(options.operands[0])\"; see \(command.name) --help")
            leave(ExitCode.usage)
        }
        let name = options.value("name") ?? "\(Environment.hostName)-\(Environment.processID)"
        let hosted: [HostedSkill]
        do {
            hosted = try host(name)
            for skill in hosted { try skill.manifest.validate() }
        } catch {
            printError("\(command.name): \(error)")
            leave(ExitCode.usage)
        }
        if options.flag("manifest") {
            for skill in hosted {
                let json = (try? JSONBody.encode(skill.manifest)) ?? []
                printOutput(String(decoding: json, as: UTF8.self))
            }
            leave(ExitCode.success)
        }
        if options.flag("health") {
            leave(await HealthCheck.passes(endpoints: endpoints, key: key, skills: hosted.map(\.manifest.id)) ? 0 : 1)
        }
        if options.flag("exit-with-parent") { exitWhenParentDies() }
        await serve(
            id: id,
            name: name,
            hosted: hosted,
            endpoints: endpoints,
            key: key,
            concurrency: concurrency ?? hosted.map(\.manifest.concurrency).max() ?? 1,
            drain: drain,
            signals: signals
        )
    }

    private static func serve(
        id: String,
        name: String,
        hosted: [HostedSkill],
        endpoints: [String],
        key: ClientKey?,
        concurrency: Int,
        drain: Double,
        signals: AsyncStream<Int32>
    ) async -> Never {
        let log = Log(service: "worker-\(id)")
        let registration = Registration(
            worker: name,
            instance: .timeOrdered(milliseconds: WallClock.milliseconds),
            host: Environment.hostName,
            pid: Environment.processID,
            product: Product.version,
            concurrency: concurrency,
            manifests: hosted.map(\.manifest)
        )
        let (endings, ending) = AsyncStream<WorkerRuntime.Ending>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let client: BusClient
        let runtime: WorkerRuntime
        do {
            client = try BusClient(key: key)
            runtime = WorkerRuntime(
                skills: hosted,
                registration: registration,
                client: client,
                log: log,
                onReady: ReadyLine(skills: hosted.map(\.manifest.id)).print,
                onEnd: { ending.yield($0) }
            )
            try client.start(endpoints, user: runtime, work: runtime.executor)
        } catch {
            printError("skillbus-worker-\(id): \(error)")
            leave(ExitCode.failure)
        }
        // Ready to be registered with whatever router comes: a router that is away is no reason to start this anew.
        ServiceManager.notifyReady()
        ServiceManager.keepAlive(turns: { runtime.turns.value }, wake: client.poke)
        let reminder = Task {
            var absence = RouterAbsence(since: .now)
            while true {
                try await Task.sleep(for: RouterAbsence.interval)
                guard let seconds = absence.look(isRegistered: runtime.isRegistered, at: .now) else { continue }
                let hint = "is a router there, is --routers its address for workers, is --key on its list?"
                log.warning(
                    "not registered with any router",
                    [
                        "routers": .text(endpoints.joined(separator: ",")), "seconds": .number(seconds),
                        "hint": .text(hint),
                    ]
                )
            }
        }
        defer { reminder.cancel() }
        let watcher = Task {
            var count = 0
            for await _ in signals {
                count += 1
                if count == 1 { ServiceManager.notifyStopping() }
                if count > 1 || runtime.mayLeaveAtOnce {
                    // A second signal means now.
                    leave(ExitCode.success)
                }
                log.info("draining")
                runtime.drain(within: UInt64(drain * 1000))
            }
        }
        for await ending in endings {
            watcher.cancel()
            switch ending {
            case .drained:
                await client.close()
                log.info("drained")
                leave(ExitCode.success)
            case .refused(let error):
                await client.close()
                printError("skillbus-worker-\(id): refused by the router: \(error.message)")
                if let hint = error.hint { printError("skillbus-worker-\(id): \(hint)") }
                leave(ExitCode.failure)
            }
        }
        leave(ExitCode.failure)
    }
}

/// The line that tells a supervisor that the worker is routable: once, however often it registers.
private final class ReadyLine: Sendable {
    private let text: String
    private let isPrinted = Mutex(false)

    init(skills: [String]) { text = "ready {\"skill\":\"\(skills.joined(separator: ","))\"}" }

    func print() {
        let isFirst = isPrinted.withLock { isPrinted in
            defer { isPrinted = true }
            return !isPrinted
        }
        if isFirst { printOutput(text) }
        ServiceManager.notifyStatus("registered with a router")
    }
}
