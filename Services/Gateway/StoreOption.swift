internal import Credentials
internal import Lifecycle
internal import SessionStore

/// The `--store` option. A password comes from a file or from libpq's own places (`PGPASSWORD`, `PGPASSFILE`), never from
/// the command line, which everybody on the machine can list.
enum StoreOption {
    /// The address; nil if the sessions are in a folder.
    /// - Throws: `UsageError` that names what is wrong and what to do.
    static func read(_ options: ParsedOptions) throws(UsageError) -> PostgresAddress? {
        guard let text = try options.name("store") else { return nil }
        guard !options.isGiven("store") || !PostgresAddress.hasPassword(text) else {
            throw UsageError(
                "--store has a password in it, which everybody who lists processes can read: write it to a file"
                    + " (chmod 600) and name that with --store-password (SKILLBUS_STORE_PASSWORD_FILE)"
            )
        }
        let password = try password(options)
        do throws(PostgresAddress.Invalid) {
            return try PostgresAddress(text, password: password)
        } catch {
            throw UsageError("--store: \(error), such as postgres://skillbus@db.example.org/skillbus")
        }
    }

    private static func password(_ options: ParsedOptions) throws(UsageError) -> String? {
        guard let file = try options.name("store-password") else { return nil }
        do throws(CredentialError) {
            return try PasswordFile.read(file)
        } catch {
            throw UsageError("--store-password: \(error)")
        }
    }
}
