/// Why the store did not do what it was asked.
public enum StoreError: Error, Equatable, Sendable {
    /// Something else holds the store's lock and did not let go in time.
    case busy
    /// No space is left on the disk. Writes work again once there is.
    case full
    /// The file is damaged, or is no store.
    case corrupt(String)
    /// The file was written by a later version: its schema, and the newest that this one knows.
    case newerSchema(found: Int64, known: Int64)
    /// Another process has the store open.
    case inUse(path: String)
    /// The file or its folder cannot be made, opened or written.
    case cannotOpen(path: String, reason: String)
    /// What was asked for is not there.
    case notFound
    /// The session was there, and has been deleted for its age or for the size of the store.
    case pruned
    /// The store has been closed.
    case closed
    /// The disk, the memory or the file system fails. Writes work again once it does not.
    case failed(code: Int32, reason: String)
    /// SQLite does not take what it was given: it would not take it another time either.
    case rejected(code: Int32, reason: String)

    /// Whether the same call may succeed later, without anybody repairing anything in the program.
    public var isTransient: Bool {
        switch self {
        case .busy, .full, .failed: true
        default: false
        }
    }
}

extension StoreError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .busy: "the store is locked by another connection"
        case .full: "no space is left on the store's disk"
        case .corrupt(let reason): "the store is damaged: \(reason)"
        case .newerSchema(let found, let known):
            "the store has schema \(found), this version knows up to \(known): use the version that wrote it or a later one"
        case .inUse(let path): "\(path) is in use by another process"
        case .cannotOpen(let path, let reason): "cannot open \(path): \(reason)"
        case .notFound: "not found"
        case .pruned: "the session has been deleted"
        case .closed: "the store is closed"
        case .failed(0, let reason), .rejected(0, let reason): "store error: \(reason)"
        case .failed(let code, let reason), .rejected(let code, let reason): "store error \(code): \(reason)"
        }
    }
}
