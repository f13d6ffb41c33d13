internal import Glibc
internal import Lifecycle

/// `skillbus up`: everything on this machine, in one command.
enum UpCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus up",
            "start router, gateway and workers here, and keep them running",
            options: [
                .value(
                    "http",
                    "HOST:PORT",
                    "where the gateway listens; port 0 picks a free one",
                    default: "127.0.0.1:8080"
                ),
                .value(
                    "state",
                    "DIR",
                    "sessions, indexes and logs",
                    environment: "SKILLBUS_STATE",
                    default: nil
                ),
                .value("ready-file", "FILE", "written as JSON once every skill can be used"),
                .value("skills", "NAME,...", "start only these workers; may be repeated"),
                .value("workers", "NAME=N", "so many processes of a worker; may be repeated"),
                .value("routers", "N", "so many routers, each ten ports after the one before", default: "1"),
                .value("frontend", "ENDPOINT", "where gateways find the router (default tcp://127.0.0.1:5555)"),
                .value("backend", "ENDPOINT", "where workers find the router (default tcp://127.0.0.1:5556)"),
                .value("programs", "DIR", "the folder with the executables (default: beside this program)"),
                .flag("verbose", short: "v", "show what the services write; it also goes to DIR/logs"),
            ],
            details: """
                Starts skillbus-router, skillbus-gateway and every skillbus-worker-* beside this program. One that
                ends is started again. Ctrl-C stops taking requests, finishes what runs and ends everything; a second
                one ends it at once. With port 0 the bus uses sockets in the state folder instead of ports, so that
                any number of these can run side by side.

                  skillbus up --workers summarize=4
                  skillbus up --http 127.0.0.1:0 --state /tmp/try --ready-file /tmp/try/ready.json
                """
        ),
        operands: 0...0
    ) { options in
        // Ctrl-C during the checks ends the program; from the first child on it drains.
        let state = StateFolder.absolute(options.value("state") ?? Environment.stateFolder)
        var settings = try UpSettings(options, state: state)
        let folder = try StateFolder(state)
        try settings.prepare()
        return await Supervisor(settings, folder: folder).run()
    }
}
