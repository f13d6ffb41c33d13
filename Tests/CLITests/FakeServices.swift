import Glibc
import TestSupport
import Wire

/// Executables that behave as router, gateway and workers do towards `skillbus up`: options, the ready line, SIGTERM,
/// the end of standard input. What they were told and when they stopped stands in `calls`.
final class FakeServices: Sendable {
    let folder: TemporaryFolder
    var programs: String { folder.path }
    var state: String { folder.file("state") }
    var readyFile: String { folder.file("ready.json") }

    init(workers: [String] = ["alpha", "beta"]) throws {
        folder = try TemporaryFolder()
        mkdir(folder.file("state"), 0o700)
        for name in ["router", "gateway"] + workers.map({ "worker-\($0)" }) {
            try folder.writeProgram("skillbus-\(name)", FakeServices.program)
        }
    }

    func up(_ arguments: [String] = [], environment: [String: String?] = [:]) throws -> ChildProcess {
        let own = ["up", "--http", "127.0.0.1:0", "--state", state, "--programs", programs, "--ready-file", readyFile]
        return try ChildProcess(skillbus, own + arguments, environment: environment)
    }

    /// Lines of `calls`.
    var calls: [String] {
        ((try? readFile("\(state)/calls")) ?? "").split(separator: "\n").map(String.init)
    }

    /// The ready file; nil if it is not there.
    var ready: JSONValue? {
        guard let text = try? readFile(readyFile) else { return nil }
        return try? JSONBody.decode(JSONValue.self, from: text.utf8)
    }

    func process(_ name: String) -> Int32? {
        let entry = ready?["pids"]?[name]
        return (entry?.integer ?? entry?.array?.first?.integer).map { Int32($0) }
    }

    private static let program = #"""
        #!/usr/bin/env python3
        import glob, http.server, json, os, signal, sys, threading

        name = os.path.basename(sys.argv[0]).replace("skillbus-", "").replace("worker-", "")
        state = os.environ["SKILLBUS_STATE"]
        mine = f"{state}/worker.{name}.{os.getpid()}"

        def note(text):
            with open(f"{state}/calls", "a") as calls:
                calls.write(text + "\n")

        def leave(why):
            note(f"{why} {name}")
            if os.path.exists(mine):
                os.unlink(mine)
            os._exit(0)

        def option(word):
            return sys.argv[sys.argv.index(word) + 1]

        class Gateway(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                skills = []
                for file in glob.glob(f"{state}/worker.*"):
                    _, skill, process = os.path.basename(file).split(".")
                    if os.path.exists(f"/proc/{process}"):
                        worker = {"id": "w", "host": "h", "pid": int(process), "credit": 1, "busy": 0}
                        skills.append({"id": skill, "description": "d", "workers": [worker]})
                body = json.dumps({"skills": skills}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        def watch_parent():
            try:
                sys.stdin.buffer.read()
                leave("orphan")
            finally:
                os._exit(1)  # where the test, and the folder with it, is gone too

        # Waited for, not handled: Python runs a handler between two steps of its own, so that a signal which comes right
        # before a read that blocks would wait for the end of that read. Threads inherit the mask.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        note(f"start {name} {' '.join(sys.argv[1:])}")
        if name == os.environ.get("FAKE_BROKEN"):
            sys.exit(f"{name} is broken on purpose")
        ready = {"skill": name}
        if name == "router":
            ready = {"frontend": option("--frontend"), "backend": option("--backend")}
        elif name == "gateway":
            host, port = option("--http").split(":")
            server = http.server.ThreadingHTTPServer((host, int(port)), Gateway)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            ready = {"url": f"http://{host}:{server.server_address[1]}"}
        else:
            open(mine, "w").close()
        print("a line that is no sign of readiness", flush=True)
        print("ready", json.dumps(ready), flush=True)
        threading.Thread(target=watch_parent, daemon=True).start()
        while signal.sigwait([signal.SIGTERM]):
            if name != os.environ.get("FAKE_STUBBORN"):
                leave("stop")
            note(f"ignored {name}")
        """#
}
