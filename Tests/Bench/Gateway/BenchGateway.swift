import Bus
import Glibc
import Lifecycle
import Synchronization
import Wire

/// The load generator of the floor, once more on the bus client that the gateway uses: the same window, the same
/// acknowledgements, the same figures.
@main
enum BenchGateway {
    static let command = Command(
        "bench-gateway",
        "sends jobs to a router and measures them",
        options: [
            .value("front", "ENDPOINT", "the router's frontend"),
            .value("in-flight", "N", "jobs under way", default: "1"),
            .value("payload", "BYTES", "size of a job's body", default: "256"),
            .value("seconds", "S", "how long to measure", default: "1"),
            .value("workers", "N", "workers to wait for", default: "1"),
            .value("router-pid", "PID", "whose time to read", default: "0"),
            .value("other-pids", "PID,PID", "whose time to read as well", default: ""),
        ]
    )

    static func main() async throws {
        let options = try command.parse(Array(CommandLine.arguments.dropFirst()))
        let settings = Load.Settings(
            inFlight: try options.integer("in-flight", in: 1...65_536) ?? 1,
            payload: try options.integer("payload", in: 0...4_194_304) ?? 256,
            seconds: try options.seconds("seconds") ?? 1,
            workers: try options.integer("workers", in: 1...64) ?? 1,
            router: Int32(try options.integer("router-pid", in: 0...Int(Int32.max)) ?? 0),
            others: (options.value("other-pids") ?? "").split(separator: ",").compactMap { Int32($0) }
        )
        guard let endpoint = options.value("front") else { throw UsageError("--front is needed") }
        let client = try BusClient()
        let load = try Load(settings, client)
        try client.start(endpoint, user: load)
        printOutput(await load.result)
        await client.close()
    }
}
