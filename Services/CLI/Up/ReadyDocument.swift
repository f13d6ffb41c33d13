internal import Wire

/// For whoever waits until everything runs: url, the routers' endpoints, process ids by service.
struct ReadyDocument {
    private let document: JSONValue

    init(_ url: String, _ settings: UpSettings, _ services: [Supervisor.Service]) {
        let routers = services.filter { $0.role == .router }.map { service -> JSONValue in
            [
                "frontend": service.ready?["frontend"] ?? .string(settings.frontends[service.number]),
                "backend": service.ready?["backend"] ?? .string(settings.backends[service.number]),
            ]
        }
        var processes: [String: JSONValue] = [:]
        for service in services {
            guard let id = service.process.map({ JSONValue.integer(Int64($0.id)) }) else { continue }
            if service.role == .worker || service.role == .router && settings.routers > 1 {
                processes[service.name] = .array((processes[service.name]?.array ?? []) + [id])
            } else {
                processes[service.name] = id
            }
        }
        var fields: [String: JSONValue] = [
            "url": .string(url), "router": routers.first ?? .null, "pids": .object(processes),
        ]
        if settings.routers > 1 { fields["routers"] = .array(routers) }
        document = .object(fields)
    }

    /// One line of JSON.
    var bytes: [UInt8] { ((try? JSONBody.encode(document)) ?? []) + [10] }
}
