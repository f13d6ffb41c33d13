internal import Wire

/// For whoever waits until everything runs: url, the router's endpoints, process ids by service.
struct ReadyDocument {
    private let document: JSONValue

    init(_ url: String, _ settings: UpSettings, _ services: [Supervisor.Service]) {
        let router = services.first { $0.role == .router }?.ready
        var processes: [String: JSONValue] = [:]
        for service in services {
            guard let id = service.process.map({ JSONValue.integer(Int64($0.id)) }) else { continue }
            if service.role == .worker {
                processes[service.name] = .array((processes[service.name]?.array ?? []) + [id])
            } else {
                processes[service.name] = id
            }
        }
        document = [
            "url": .string(url),
            "router": [
                "frontend": router?["frontend"] ?? .string(settings.frontend),
                "backend": router?["backend"] ?? .string(settings.backend),
            ],
            "pids": .object(processes),
        ]
    }

    /// One line of JSON.
    var bytes: [UInt8] { ((try? JSONBody.encode(document)) ?? []) + [10] }
}
