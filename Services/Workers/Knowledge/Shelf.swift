internal import DocumentIndex
internal import Synchronization

/// Keeps the index open between searches, and opens it when it appears or is replaced: indexing needs no restart.
final class Shelf: Sendable {
    private struct State {
        var reader: DocumentIndex.Reader?
    }

    /// The file.
    let path: String
    private let state = Mutex(State())

    init(path: String) { self.path = path }

    /// Searches. Blocks, so it is called on a thread of its own.
    func search(
        _ query: String,
        limit: Int,
        folder: String?
    ) throws(IndexError) -> [DocumentIndex.Passage] {
        try state.withLock { state throws(IndexError) in
            if state.reader?.isCurrent != true { state.reader = nil }
            let reader: DocumentIndex.Reader
            if let open = state.reader { reader = open } else { reader = try DocumentIndex.Reader(path: path) }
            state.reader = reader
            do throws(IndexError) {
                return try reader.search(query, limit: limit, folder: folder)
            } catch {
                // A file that was damaged or exchanged under the connection: the next search opens it anew.
                if case .database = error { state.reader = nil }
                throw error
            }
        }
    }
}
