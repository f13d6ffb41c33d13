/// A file that holds a password for another service and nothing else.
public enum PasswordFile {
    /// The password: the file's text without the line break at its end.
    /// - Throws: `CredentialError` when it cannot be read, is empty, or others can read it. What a container engine mounts
    ///   into `/run/secrets` is as its host has it.
    public static func read(_ path: String) throws(CredentialError) -> String {
        let text = try GuardedFile.read(path, as: path.hasPrefix("/run/secrets/") ? .mounted : .secret)
        let password = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard !password.isEmpty else { throw .content(path: path, line: 0, reason: "is empty") }
        return password
    }
}
