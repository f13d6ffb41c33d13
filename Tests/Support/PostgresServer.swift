import Glibc
import Synchronization

/// A PostgreSQL of the tests' own, in a temporary folder and on a Unix socket only. It ends with the process that
/// started it, however that ends: a shell beside it waits for the end of its input.
public final class PostgresServer: Sendable {
    public let folder: String
    private let process: ChildProcess
    private let databases = Atomic(0)

    /// Where the server's programs are; nil if none are installed (Debian's package `postgresql` has them).
    public static let programs: String? = {
        var folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").map(String.init)
        var found = glob_t()
        if glob("/usr/lib/postgresql/*/bin", 0, nil, &found) == 0 {
            folders += (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
            globfree(&found)
        }
        return folders.last { folder in
            ["initdb", "postgres", "psql"].allSatisfy { access("\(folder)/\($0)", X_OK) == 0 }
        }
    }()

    private static let started = Mutex<Task<PostgresServer, any Error>?>(nil)

    /// The one server of this process.
    public static func shared() async throws -> PostgresServer {
        try await started.withLock { started in
            let task = started ?? Task { try await PostgresServer() }
            started = task
            return task
        }.value
    }

    /// Makes a server and starts it.
    public init() async throws {
        var template = Array("/tmp/skillbus-postgres-XXXXXX".utf8CString)
        guard let programs = PostgresServer.programs, mkdtemp(&template) != nil else { throw SpawnError(code: errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // PostgreSQL refuses to run as root.
        let user = getpwnam("postgres") ?? getpwnam("nobody")
        var prefix: [String] = []
        if geteuid() == 0, let user {
            chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
            prefix = ["setpriv", "--reuid=\(user.pointee.pw_uid)", "--regid=\(user.pointee.pw_gid)", "--clear-groups"]
        }
        let script = """
            cd /
            "$@" "$programs/initdb" -D "$folder/data" -U skillbus -A trust -E UTF8 --locale=C -N >"$folder/log" 2>&1 &&
            { "$@" "$programs/postgres" -D "$folder/data" -k "$folder" -h '' -c fsync=off -c autovacuum=off -c max_connections=300 \
                -c log_min_messages=fatal >>"$folder/log" 2>&1 & }
            server=$!
            echo $server
            read -r end
            kill -CONT $server; kill -QUIT $server; wait $server
            rm -rf "$folder"
            """
        process = try ChildProcess(
            "/bin/sh",
            ["-c", script, "sh"] + prefix,
            environment: ["programs": programs, "folder": folder]
        )
        let isReady = await eventually(within: .seconds(60)) { [folder] in
            guard access("\(folder)/.s.PGSQL.5432", F_OK) == 0 else { return false }
            return (try? await PostgresServer.run("SELECT 1", in: folder)) != nil
        }
        guard isReady else { throw SpawnError(code: ETIMEDOUT) }
    }

    /// The process that all others of the server come from.
    public var id: Int32 { process.lines.first.flatMap { Int32($0) } ?? 0 }

    /// A new database.
    /// - Returns: Its URL.
    public func database() async throws -> String {
        let name = "test\(databases.add(1, ordering: .relaxed).newValue)"
        try await PostgresServer.run("CREATE DATABASE \(name)", in: folder)
        return url(of: name)
    }

    private func url(of name: String) -> String { "postgres://skillbus@/\(name)?host=\(folder)" }

    /// Runs SQL in a database.
    /// - Returns: What it gives, a row a line.
    @discardableResult
    public static func query(_ sql: String, at url: String) async throws -> String {
        let name = url.split(separator: "?")[0].split(separator: "/").last.map(String.init) ?? ""
        let folder = url.split(separator: "=").last.map(String.init) ?? ""
        return try await run(sql, in: folder, database: name)
    }

    @discardableResult
    private static func run(_ sql: String, in folder: String, database: String = "postgres") async throws -> String {
        let psql = try ChildProcess(
            "\(programs ?? "")/psql",
            ["-qAtX", "-h", folder, "-U", "skillbus", "-d", database, "-v", "ON_ERROR_STOP=1", "-c", sql]
        )
        psql.closeInput()
        guard await psql.exitCode() == 0 else { throw QueryError(message: psql.errorOutput) }
        return psql.output
    }

    public struct QueryError: Error { public let message: String }
}
