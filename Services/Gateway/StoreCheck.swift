internal import Lifecycle
internal import SessionStore
internal import Wire

/// The `--check` option: looks at a whole store, also of a gateway that runs.
enum StoreCheck {
    /// Says what it finds on standard output.
    /// - Returns: The exit code: 0 for a sound store, 1 for one that is not, 2 when there is none that can be read.
    static func run(_ settings: Settings, asJSON: Bool) async -> Int32 {
        do throws(StoreError) {
            let report: StoreReport
            if let address = settings.store {
                report = try await PostgresSessionStore.check(address)
            } else {
                report = try SQLiteSessionStore.check(folder: settings.state)
            }
            if asJSON {
                printOutput(String(decoding: (try? JSONBody.encode(report)) ?? [], as: UTF8.self))
            } else {
                printOutput(text(report))
            }
            return report.problems.isEmpty ? ExitCode.success : ExitCode.failure
        } catch {
            printError("skillbus-gateway: \(error)")
            return ExitCode.usage
        }
    }

    private static func text(_ report: StoreReport) -> String {
        let migration =
            report.version < report.current ? ", brought up to version \(report.current) at the next start" : ""
        let requests = "\(report.requests) requests (\(report.open) open)"
        let held = "\(report.sessions) sessions, \(requests), \(report.events) events, \(report.bytes / 1000) kB"
        var lines = ["\(report.path): version \(report.version)\(migration); \(held)"]
        lines += report.problems.map { "\($0.rule): \($0.detail)" }
        lines.append(report.problems.isEmpty ? "sound" : "not sound: \(report.problems.count) problems")
        return lines.joined(separator: "\n")
    }
}
