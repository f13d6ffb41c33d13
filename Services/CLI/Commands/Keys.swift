internal import Credentials
internal import Lifecycle
internal import Wire

/// `skillbus keys`: the keys by which router, gateways and workers know each other.
enum KeysCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus keys",
            "make, list and remove the keys of the bus",
            operands: "new [NAME] | list | remove NAME",
            options: [
                .value("keys", "DIR", "the folder with the keys (default: keys in the state folder)"),
                .value("state", "DIR", "the state folder", environment: "SKILLBUS_STATE"),
                .value("role", "ROLE", "of a new key: gateway or worker", default: "worker"),
                .value("skills", "ID,...", "what a new worker key may register; * for any skill"),
                CommonOptions.json,
            ],
            details: """
                Without a name `new` makes the first keys: one for the router, one for gateways, and one for workers of
                any skill; `skillbus up` uses them from then on. With a name it makes one more and puts it on the list of
                those let in. Key files are secret: give each program its own, by --key FILE or SKILLBUS_KEY_FILE. A
                running router reads its list anew on SIGHUP.

                  skillbus keys new
                  skillbus keys new weather --skills weather
                  skillbus keys remove weather
                """
        ),
        operands: 1...2
    ) { options in
        let state = StateFolder.absolute(options.value("state") ?? Environment.stateFolder)
        let keys = KeyFolder(options.value("keys").map(StateFolder.absolute) ?? "\(state)/keys")
        let name = options.operands.count > 1 ? options.operands[1] : nil
        do {
            switch (options.operands[0], name) {
            case ("new", nil): try report(try keys.makeFirst(), options)
            case ("new", let name?): try report([try make(name, in: keys, options)], options)
            case ("list", nil): try list(keys, options)
            case ("remove", let name?):
                try keys.remove(name)
                printError("skillbus: \(name) is off the list; a running router lets it in until it gets SIGHUP")
            case ("remove", nil): throw UsageError("skillbus keys remove needs a NAME; see skillbus keys list")
            default: throw UsageError("skillbus keys takes new [NAME], list or remove NAME; see skillbus keys --help")
            }
        } catch let error as CredentialError {
            throw CommandFailure(error.description)
        }
        return ExitCode.success
    }

    private static func make(_ name: String, in keys: KeyFolder, _ options: ParsedOptions) throws -> String {
        guard let role = AllowList.Role(rawValue: options.value("role") ?? "") else {
            throw UsageError("--role must be gateway or worker")
        }
        guard role == .worker else {
            guard options.value("skills") == nil else { throw UsageError("--skills is for workers") }
            return try keys.make(name, as: role)
        }
        guard let skills = options.value("skills").flatMap({ AllowList.Skills($0) }) else {
            throw UsageError("--skills ID,... says what the worker may register; * for any skill")
        }
        return try keys.make(name, as: role, skills: skills)
    }

    private static func report(_ files: [String], _ options: ParsedOptions) throws {
        if options.flag("json") { return try Output.json(JSONValue.array(files.map { .string($0) })) }
        for file in files { try Output.line(file) }
    }

    private static func list(_ keys: KeyFolder, _ options: ParsedOptions) throws {
        let entries = try AllowList.read(keys.listFile).entries
        if options.flag("json") {
            let objects = entries.map { entry -> JSONValue in
                [
                    "name": .string(entry.name), "role": .string(entry.role.rawValue),
                    "key": .string(entry.key.description), "skills": .string(entry.skills.description),
                ]
            }
            return try Output.json(JSONValue.array(objects))
        }
        var table = Table(["NAME", "ROLE", "SKILLS", "PUBLIC KEY"])
        for entry in entries {
            table.add([entry.name, entry.role.rawValue, entry.skills.description, entry.key.description])
        }
        for line in table.lines(Output.style, columns: nil) { try Output.line(line) }
    }
}
