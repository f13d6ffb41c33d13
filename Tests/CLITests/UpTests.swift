import Glibc
import TestSupport
import Testing
import Wire

/// `skillbus up` with services that do as real ones: start, readiness, restarts, draining, the end with the parent.
@Suite(.timeLimit(.minutes(2)))
struct UpTests {
    private func ready(_ up: ChildProcess) async -> String? {
        await up.line(of: .output) { $0.hasPrefix("skillbus is ready") }
    }

    @Test(
        "Everything is started, the ready file written, and drained in order on SIGTERM",
        arguments: [SIGTERM, SIGINT]
    )
    func startsAndDrains(_ signal: Int32) async throws {
        let services = try FakeServices()
        let up = try services.up(["--workers", "beta=2"])
        let line = try #require(await ready(up), "\(up.errorOutput)")
        let document = try #require(services.ready)
        #expect(line == "skillbus is ready at \(document["url"]?.string ?? "") with alpha, beta x 2")
        #expect(document["router"]?["frontend"] == .string("ipc://\(services.state)/frontend.sock"))
        #expect(document["router"]?["backend"] == .string("ipc://\(services.state)/backend.sock"))
        #expect(document["pids"]?["beta"]?.array?.count == 2)
        #expect(document["pids"]?["router"]?.integer != nil)
        let starts = services.calls.filter { $0.hasPrefix("start") }
        #expect(starts.allSatisfy { $0.hasSuffix("--exit-with-parent") })
        #expect(
            starts.contains(
                "start gateway --http 127.0.0.1:0 --state \(services.state) --routers ipc://\(services.state)/frontend.sock "
                    + "--exit-with-parent"
            )
        )
        #expect(starts.contains("start alpha --routers ipc://\(services.state)/backend.sock --exit-with-parent"))

        up.send(signal)
        #expect(await up.exitCode() == 0)
        let stops = services.calls.filter { $0.hasPrefix("stop") }
        // A worker's end needs the gateway, by way of the router, to be stored.
        #expect(stops.suffix(2) == ["stop gateway", "stop router"])
        #expect(Set(stops) == ["stop gateway", "stop alpha", "stop beta", "stop router"])
        #expect(stops.count == 5)
        #expect(services.ready == nil)
    }

    @Test("Several routers are started, and everybody is told of all of them")
    func severalRouters() async throws {
        let services = try FakeServices()
        let up = try services.up(["--routers", "3"])
        try #require(await ready(up) != nil, "\(up.errorOutput)")
        let document = try #require(services.ready)
        let folder = "ipc://\(services.state)"
        let frontends = ["\(folder)/frontend.sock", "\(folder)/frontend-2.sock", "\(folder)/frontend-3.sock"]
        #expect(document["router"]?["frontend"] == .string(frontends[0]))
        #expect(document["routers"]?.array?.compactMap { $0["frontend"]?.string } == frontends)
        #expect(document["pids"]?["router"]?.array?.count == 3)
        let starts = services.calls.filter { $0.hasPrefix("start") }
        #expect(starts.count { $0.hasPrefix("start router") } == 3)
        #expect(starts.contains { $0.contains("--routers \(frontends.joined(separator: ",")) ") })
        let backends = frontends.map { $0.replacing("frontend", with: "backend") }.joined(separator: ",")
        #expect(starts.contains("start alpha --routers \(backends) --exit-with-parent"))
        up.send(SIGTERM)
        #expect(await up.exitCode() == 0)
        #expect(services.calls.suffix(3).allSatisfy { $0 == "stop router" })
    }

    @Test(
        "What dies is started again, and the ready file has the new process",
        arguments: ["alpha", "router", "gateway"]
    )
    func restarts(_ name: String) async throws {
        let services = try FakeServices()
        let up = try services.up()
        #expect(await ready(up) != nil)
        let url = services.ready?["url"]
        let before = try #require(services.process(name))
        kill(before, SIGKILL)
        #expect(await up.line { $0.hasPrefix("skillbus: \(name) (process \(before)) was ended by signal 9") } != nil)
        #expect(await up.line { $0 == "skillbus: everything runs again" } != nil)
        let after = try #require(services.process(name))
        #expect(after != before)
        // A gateway stays where its clients look for it.
        #expect(services.ready?["url"] == url)
        up.send(SIGTERM)
        #expect(await up.exitCode() == 0)
    }

    @Test("Killed outright, it takes its children with it")
    func diesWithParent() async throws {
        let services = try FakeServices()
        let up = try services.up()
        #expect(await ready(up) != nil)
        let processes = try ["router", "gateway", "alpha", "beta"].map { try #require(services.process($0)) }
        up.send(SIGKILL)
        #expect(await eventually { processes.allSatisfy { kill($0, 0) != 0 } })
        #expect(Set(services.calls.filter { $0.hasPrefix("orphan") }).count == 4)
    }

    @Test("A second signal ends everything at once")
    func secondSignal() async throws {
        let services = try FakeServices()
        let up = try services.up(environment: ["FAKE_STUBBORN": "gateway"])
        #expect(await ready(up) != nil)
        let gateway = try #require(services.process("gateway"))
        up.send(SIGINT)
        #expect(await eventually { services.calls.contains("ignored gateway") })
        up.send(SIGINT)
        #expect(await up.exitCode() == 130)
        #expect(kill(gateway, 0) != 0)
    }

    @Test("A second one on the same state is refused, naming the process")
    func lock() async throws {
        let services = try FakeServices()
        let up = try services.up()
        #expect(await ready(up) != nil)
        let second = try services.up()
        #expect(await second.exitCode() == 1)
        #expect(second.errorOutput.contains("Skillbus already runs on \(services.state) (process \(up.id))"))
        #expect(services.ready != nil)
    }

    @Test("Wrong options are told before the lock of the state folder")
    func optionsBeforeLock() async throws {
        let services = try FakeServices()
        let up = try services.up()
        #expect(await ready(up) != nil)
        let second = try services.up(["--skills", "nonesuch"])
        #expect(await second.exitCode() == 2)
        #expect(second.errorOutput.contains("there is no worker \"nonesuch\""))
    }

    @Test("A ready file that cannot be written ends it before anything is started")
    func readyFile() async throws {
        let services = try FakeServices()
        for (file, words) in [("/nonexistent/ready.json", "No such file or directory"), ("/tmp", "it is a folder")] {
            let up = try services.up(["--ready-file", file])
            #expect(await up.exitCode() == 1)
            #expect(up.errorOutput == "skillbus: cannot write the ready file \(file): \(words)")
        }
        #expect(services.calls.isEmpty)
    }

    @Test("A port that is taken is named, with what to do")
    func portInUse() async throws {
        let services = try FakeServices()
        let server = try ScriptedServer { _, _ in }
        let result = try await run(
            skillbus,
            ["up", "--http", "127.0.0.1:\(server.port)", "--state", services.state, "--programs", services.programs]
        )
        #expect(result.code == 1)
        #expect(
            result.error
                == "skillbus: port \(server.port) on 127.0.0.1, for the gateway, is in use by another program: choose "
                + "another with --http HOST:PORT (port 0 picks a free one)"
        )
        #expect(services.calls.isEmpty)
    }

    @Test("A gateway that cannot start ends it, with the gateway's own words")
    func broken() async throws {
        let services = try FakeServices()
        let up = try services.up(environment: ["FAKE_BROKEN": "gateway"])
        #expect(await up.exitCode() == 1)
        #expect(up.errorOutput.contains("gateway is broken on purpose"))
        #expect(up.errorOutput.contains("Skillbus cannot run without it"))
        #expect(up.errorOutput.contains("its log: \(services.state)/logs/gateway.log"))
    }

    @Test("A worker that cannot start is tried again while the others serve")
    func brokenWorker() async throws {
        let services = try FakeServices()
        let up = try services.up(environment: ["FAKE_BROKEN": "beta"])
        #expect(await up.line { $0.contains("beta is broken on purpose") } != nil)
        #expect(await eventually { services.calls.filter { $0.hasPrefix("start beta") }.count >= 3 })
        #expect(await eventually { services.calls.contains { $0.hasPrefix("start alpha") } })
        #expect(services.ready == nil)
        up.send(SIGTERM)
        #expect(await up.exitCode() == 0)
    }

    @Test("A program that the kernel does not start is tried again as one that ends")
    func unstartable() async throws {
        let services = try FakeServices()
        let program = services.folder.file("skillbus-worker-alpha")
        let sound = try readFile(program)
        try services.folder.writeProgram("skillbus-worker-alpha", "#!/nonexistent\n")
        let up = try services.up()
        #expect(await up.line { $0.contains("cannot start \(program)") && $0.contains("starting it again") } != nil)
        #expect(await eventually { services.calls.contains { $0.hasPrefix("start beta") } })
        try services.folder.writeProgram("skillbus-worker-alpha", sound)
        #expect(await ready(up)?.hasSuffix("with alpha, beta") == true, "\(up.errorOutput)")
        up.send(SIGTERM)
        #expect(await up.exitCode() == 0)
    }

    @Test("A router that the kernel does not start ends it, and leaves nothing behind")
    func unstartableRouter() async throws {
        let services = try FakeServices()
        try services.folder.writeProgram("skillbus-router", "#!/nonexistent\n")
        let up = try services.up()
        #expect(await up.exitCode() == 1)
        #expect(up.errorOutput.contains("Skillbus cannot run without it"))
        let starts = services.calls.filter { $0.hasPrefix("start ") }.count
        #expect(services.calls.filter { $0.hasPrefix("stop") }.count == starts)
    }

    @Test(
        "Wrong options",
        arguments: [
            (["--skills", "alhpa"], "there is no worker \"alhpa\""), (["--skills", "alhpa"], "did you mean alpha?"),
            (["--workers", "alpha"], "--workers must be NAME=N"), (["--workers", "alpha=99"], "from 0 to 64"),
            (["--http", "8080"], "it must be HOST:PORT"),
        ]
    )
    func usage(_ arguments: [String], _ words: String) async throws {
        let services = try FakeServices()
        let up = try services.up(arguments)
        #expect(await up.exitCode() == 2)
        #expect(up.errorOutput.contains(words), "\(up.errorOutput)")
    }

    @Test("Only the skills that were named, over a socket folder whose path is too long for the state folder")
    func someSkills() async throws {
        let services = try FakeServices()
        let state = "\(services.state)/\(String(repeating: "long", count: 20))"
        let up = try services.up(["--skills", "beta", "--state", state])
        #expect(await ready(up)?.hasSuffix("with beta") == true, "\(up.errorOutput)")
        let frontend = try #require(services.ready?["router"]?["frontend"]?.string)
        #expect(frontend.hasPrefix("ipc:///tmp/skillbus-"))
        up.send(SIGTERM)
        #expect(await up.exitCode() == 0)
        #expect(access(String(frontend.dropFirst(6).dropLast("/frontend.sock".count)), F_OK) != 0)
    }
}
