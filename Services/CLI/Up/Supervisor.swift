internal import Credentials
internal import Glibc
internal import Lifecycle
internal import SessionClient
internal import Wire

/// Runs routers, a gateway and workers, and starts again what ends.
///
///     starting --all routable--> ready --something ended--> mending --all routable--> ready
///         `--------+------------------- first signal --------------+
///                  v
///     draining: workers, then gateway, then routers --all ended--> over      (second signal: all are killed)
actor Supervisor {
    private enum Happening: Sendable {
        case ready(Int, process: Int32, JSONValue)
        case ended(Int, process: Int32, status: Int32)
        case due(Int)
        case routable(Set<Int32>)
        /// The gateway is ready, and does not tell this program more.
        case unseen
        case overdue(Role)
        case signal
    }

    /// How long a kind of service may drain; their own limits are shorter.
    private static let drainLimit = Duration.seconds(60)
    /// A router or gateway that ends so often before it was ever ready will not get better.
    private static let attempts = 4

    private var settings: UpSettings
    private let folder: StateFolder
    private var services: [Service] = []
    private let happenings: AsyncStream<Happening>
    private let happened: AsyncStream<Happening>.Continuation
    private var url: String?
    private var routable: Set<Int32> = []
    private var watching: Task<Void, Never>?
    private var draining: Role?
    private var isComplete = false
    private var wasComplete = false
    private var code = ExitCode.success

    init(_ settings: UpSettings, folder: StateFolder) {
        self.settings = settings
        self.folder = folder
        (happenings, happened) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(4096))
        func service(_ role: Role, _ name: String, _ program: String, log: String) -> Service {
            Service(
                role: role,
                name: name,
                path: "\(settings.programs)/\(program)",
                log: ServiceLog(log, in: "\(folder.path)/logs", echoes: settings.isVerbose)
            )
        }
        for number in 0..<settings.routers {
            let log = number == 0 ? "router" : "router-\(number + 1)"
            services.append(service(.router, "router", "skillbus-router", log: log))
            services[number].number = number
        }
        services.append(service(.gateway, "gateway", "skillbus-gateway", log: "gateway"))
        for (name, count) in settings.workers {
            for number in 0..<count {
                let log = number == 0 ? name : "\(name)-\(number + 1)"
                services.append(service(.worker, name, "skillbus-worker-\(name)", log: log))
            }
        }
    }

    /// Runs until it has been told to stop and everything has ended. Returns the exit code.
    func run() async -> Int32 {
        Interrupts.shared.handle { [happened] _ in happened.yield(.signal) }
        defer { cleanUp() }
        if let file = settings.readyFile { unlink(file) }
        for index in services.indices { start(index) }
        for await happening in happenings {
            switch happening {
            case .ready(let index, let process, let line): ready(index, process, line)
            case .ended(let index, let process, let status): ended(index, process, status)
            case .due(let index): if draining == nil { start(index) }
            case .routable(let processes):
                routable = processes
                checkComplete()
            case .unseen:
                // They have said themselves that the router took them.
                routable = Set(services.compactMap { $0.ready == nil ? nil : $0.process?.id })
                checkComplete()
            case .overdue(let role): if draining == role { kill(role) }
            case .signal: signalled()
            }
            if draining != nil, services.allSatisfy({ $0.process == nil }) { break }
        }
        return code
    }

    private func say(_ text: String) { printError("skillbus: \(Terminal.safe(text))") }

    // MARK: Starting

    private func start(_ index: Int) {
        let service = services[index]
        let happened = happened
        let log = service.log
        do throws(CommandFailure) {
            let process = try ServiceProcess(
                service.path,
                arguments(service),
                environment: ["SKILLBUS_STATE": folder.path],
                // Skills ask models, nobody else does.
                withholding: service.role == .worker
                    ? [] : Environment.all.keys.filter { $0.hasPrefix("SKILLBUS_LLM_") },
                onLine: { process, stream, line in
                    if stream == .output, line.hasPrefix("ready "),
                        let json = try? JSONBody.decode(JSONValue.self, from: Array(line.utf8.dropFirst(6)))
                    {
                        happened.yield(.ready(index, process: process, json))
                    } else {
                        log.write(line)
                    }
                },
                onExit: { process, status in happened.yield(.ended(index, process: process, status: status)) }
            )
            services[index].process = process
            services[index].ready = nil
            services[index].started = .now
        } catch {
            // It may be for a moment: a file that is being replaced, a table that is full.
            startAgain(index, after: .zero, error.message)
        }
    }

    private func arguments(_ service: Service) -> [String] {
        let own =
            switch service.role {
            case .router:
                ["--frontend", settings.frontends[service.number], "--backend", settings.backends[service.number]]
            case .gateway:
                [
                    "--http", settings.http, "--state", folder.path, "--routers",
                    settings.frontends.joined(separator: ","),
                ]
            case .worker: ["--routers", settings.backends.joined(separator: ",")]
            }
        return own + keyArguments(service) + ["--exit-with-parent"]
    }

    /// Where there are keys, they are used; a worker has one of its own or the common one.
    private func keyArguments(_ service: Service) -> [String] {
        let keys = KeyFolder("\(folder.path)/keys")
        guard keys.hasKeys else { return [] }
        switch service.role {
        case .router: return ["--key", keys.routerFile]
        case .gateway: return ["--key", keys.file("gateway")]
        case .worker: return ["--key", keys.hasKey(service.name) ? keys.file(service.name) : keys.file("worker")]
        }
    }

    private func ready(_ index: Int, _ process: Int32, _ line: JSONValue) {
        guard services[index].process?.id == process else { return }
        services[index].ready = line
        services[index].wasEverReady = true
        if services[index].role == .gateway, let url = line["url"]?.string {
            self.url = url
            // A gateway that is started again must be where its clients look for it.
            if let slashes = url.lastIndex(of: "/") { settings.http = String(url[url.index(after: slashes)...]) }
        }
        checkComplete()
        watch()
    }

    /// Asks the gateway which workers are known, until all are.
    private func watch() {
        guard watching == nil, !isComplete, draining == nil, let url else { return }
        let happened = happened
        watching = Task {
            guard let client = try? GatewayClient.fromEnvironment(url: url, seconds: 5) else { return }
            while !Task.isCancelled {
                do throws(ClientError) {
                    let list = try await client.skills()
                    happened.yield(.routable(Set(list.skills.flatMap(\.workers).map(\.pid))))
                } catch .problem(let problem) where [401, 403].contains(problem.status) {
                    if (try? await client.call("GET", "/readyz")) != nil { happened.yield(.unseen) }
                } catch {
                    // Not there yet.
                }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private func checkComplete() {
        guard draining == nil, !isComplete else { return }
        let isRoutable = services.allSatisfy { service in
            guard let process = service.process, service.ready != nil else { return false }
            return service.role != .worker || routable.contains(process.id)
        }
        guard isRoutable, let url else { return }
        isComplete = true
        watching?.cancel()
        watching = nil
        if let file = settings.readyFile {
            do throws(CommandFailure) {
                try replaceFile(file, with: ReadyDocument(url, settings, services).bytes)
            } catch {
                say(error.message)
            }
        }
        if wasComplete {
            say("everything runs again")
        } else {
            wasComplete = true
            let names = settings.workers.filter { $0.count > 0 }.map {
                $0.count == 1 ? $0.name : "\($0.name) x \($0.count)"
            }
            ServiceManager.notifyReady()
            printOutput("skillbus is ready at \(url) with \(names.joined(separator: ", "))")
        }
    }

    // MARK: Mending

    private func ended(_ index: Int, _ process: Int32, _ status: Int32) {
        guard services[index].process?.id == process else { return }
        let service = services[index]
        services[index].process = nil
        services[index].ready = nil
        routable.remove(process)
        isComplete = false
        if draining != nil { return advance() }
        let words = "\(service.name) (process \(process)) \(endWords(status))"
        let exitCode = status & 0x7f == 0 ? status >> 8 & 0xff : -1
        // One that was killed has nothing to say about it.
        let hasReason = exitCode != 0 && status & 0x7f != SIGKILL && status & 0x7f != SIGTERM
        startAgain(
            index,
            after: .now - service.started,
            words,
            saysWhy: hasReason,
            isHopeless: exitCode == ExitCode.usage
        )
    }

    /// Starts a service again after a pause that grows; or ends everything, where nothing can be done without it.
    private func startAgain(
        _ index: Int,
        after life: Duration,
        _ words: String,
        saysWhy: Bool = false,
        isHopeless: Bool = false
    ) {
        let pause = services[index].policy.ended(after: life)
        let service = services[index]
        let isOver =
            service.role != .worker && !service.wasEverReady
            && (isHopeless || service.policy.failures >= Supervisor.attempts)
        say(words + (isOver ? ", and Skillbus cannot run without it" : "; starting it again"))
        if saysWhy {
            if !settings.isVerbose { for line in service.log.last { say("  \(service.name): \(line)") } }
            say("  its log: \(service.log.path)")
        }
        if isOver {
            code = ExitCode.failure
            return drain()
        }
        let happened = happened
        Task {
            try? await Task.sleep(for: pause)
            happened.yield(.due(index))
        }
        watch()
    }

    // MARK: Stopping

    private func signalled() {
        guard draining != nil else {
            say("stopping: workers, gateway, router (once more to end them at once)")
            return drain()
        }
        code = ExitCode.interrupted
        for service in services { service.process?.send(SIGKILL) }
    }

    private func drain() {
        guard draining == nil else { return }
        ServiceManager.notifyStopping()
        watching?.cancel()
        watching = nil
        enter(.worker)
    }

    private func enter(_ role: Role) {
        draining = role
        for service in services where service.role == role { service.process?.send(SIGTERM) }
        let happened = happened
        Task {
            try? await Task.sleep(for: Supervisor.drainLimit)
            happened.yield(.overdue(role))
        }
        advance()
    }

    /// Goes on to the next kind once all of this one have ended.
    private func advance() {
        guard let role = draining, !services.contains(where: { $0.role == role && $0.process != nil }),
            let next = Role(rawValue: role.rawValue + 1)
        else { return }
        enter(next)
    }

    private func kill(_ role: Role) {
        for service in services where service.role == role && service.process != nil {
            say("\(service.name) does not stop; ending it")
            service.process?.send(SIGKILL)
        }
    }

    private func cleanUp() {
        Interrupts.shared.handle(nil)
        if let file = settings.readyFile { unlink(file) }
        for endpoint in settings.frontends + settings.backends where endpoint.hasPrefix("ipc://") {
            unlink(String(endpoint.dropFirst(6)))
        }
        if let temporary = settings.temporary { rmdir(temporary) }
    }
}
