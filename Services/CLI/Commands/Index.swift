internal import DocumentIndex
internal import Glibc
internal import Lifecycle
internal import Synchronization
internal import Wire

/// `skillbus index`: takes a folder of documents in, for the skill that searches them.
enum IndexCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus index",
            "take the documents of a folder in, for searching",
            operands: "DIR...",
            options: [
                .value("state", "DIR", "the folder with the index", environment: "SKILLBUS_STATE"),
                .flag("json", "print what was done as one line of JSON"),
            ],
            details: """
                Everything below DIR that can be read as a document is taken in: text, Markdown, HTML, PDF and the like.
                Run it again after changes: only what is new or changed is read, what is gone is removed. Workers see
                the change at once.
                """
        ),
        operands: 1...1000,
        run
    )

    static func run(_ options: ParsedOptions) async throws -> Int32 {
        let path =
            Environment.all["SKILLBUS_KNOWLEDGE"].flatMap { $0.isEmpty ? nil : $0 }
            ?? DocumentIndex.defaultPath(
                stateFolder: StateFolder.absolute(options.value("state") ?? Environment.stateFolder)
            )
        // All of them before the first is read: a slip in the last should not be found after minutes.
        for folder in options.operands {
            var information = stat()
            guard stat(folder, &information) == 0 else {
                throw UsageError("cannot read \(folder): \(String(cString: strerror(errno)))")
            }
            guard information.st_mode & S_IFMT == S_IFDIR else {
                throw UsageError("\(folder) is no folder: name the folder that it is in")
            }
        }
        let interrupted = Flag()
        Interrupts.shared.handle { _ in
            // What is done is kept; a second Ctrl-C does not wait for the file that is being read.
            if interrupted.set() { leave(ExitCode.interrupted) }
        }
        defer { Interrupts.shared.handle(nil) }
        for folder in options.operands {
            let result: Result<DocumentIndex.Report, IndexError> = await withCheckedContinuation { continuation in
                startThread(named: "index") {
                    do throws(IndexError) {
                        continuation.resume(returning: .success(try take(folder, path, interrupted)))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            }
            let report: DocumentIndex.Report
            switch result {
            case .success(let done): report = done
            case .failure(let error): throw CommandFailure(error.description)
            }
            if options.flag("json") {
                try Output.json(json(folder, path, report))
            } else {
                for skipped in report.skipped {
                    printError("skillbus: \(Terminal.line("\(skipped.path): \(skipped.reason)"))")
                }
                try Output.line(Terminal.line("\(folder): \(words(report))"))
            }
            if interrupted.isSet {
                printError("skillbus: interrupted; what was done is kept")
                return ExitCode.interrupted
            }
        }
        return ExitCode.success
    }

    /// Blocks; on a thread of its own.
    private static func take(
        _ folder: String,
        _ path: String,
        _ interrupted: Flag
    ) throws(IndexError) -> DocumentIndex.Report {
        let writer = try DocumentIndex.Writer(path: path)
        let isShown = Terminal.movesCursor(2)
        defer { if isShown { printError("\r\u{1b}[K", terminator: "") } }
        return try writer.index(folder: folder) { progress in
            if isShown {
                let text = "\(progress.done) of \(progress.total)  \(Terminal.line(progress.path))"
                printError("\r\u{1b}[K" + Terminal.fitted(text, to: Terminal.columns - 1), terminator: "")
            }
            return !interrupted.isSet
        }
    }

    static func words(_ report: DocumentIndex.Report) -> String {
        var parts = ["\(report.added) added", "\(report.updated) updated", "\(report.unchanged) unchanged"]
        if report.removed > 0 { parts.append("\(report.removed) removed") }
        if !report.skipped.isEmpty { parts.append("\(report.skipped.count) skipped") }
        return parts.joined(separator: ", ") + " (\(report.passages) new passages)"
    }

    private static func json(_ folder: String, _ path: String, _ report: DocumentIndex.Report) -> JSONValue {
        [
            "folder": .string(folder), "index": .string(path), "added": .integer(Int64(report.added)),
            "updated": .integer(Int64(report.updated)), "unchanged": .integer(Int64(report.unchanged)),
            "removed": .integer(Int64(report.removed)), "passages": .integer(Int64(report.passages)),
            "skipped": .array(report.skipped.map { ["path": .string($0.path), "reason": .string($0.reason)] }),
        ]
    }
}

/// Set once, from any thread.
private final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    /// Whether it was set before.
    func set() -> Bool {
        value.withLock { value in
            defer { value = true }
            return value
        }
    }
}
