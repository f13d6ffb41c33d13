import Glibc
import Lifecycle
import SessionStore
import Synchronization
import Telemetry
import Wire

/// What the clients share: 0 warming up, 1 measuring, 2 over; and the requests that were measured.
private final class Progress: Sendable {
    let phase = Atomic(0)
    let count = Atomic(0)
}

/// The session store alone, with as many requests under way as the HTTP clients have: each is accepted, and its
/// events are stored in one batch. A gateway cannot be faster.
@main
enum BenchStore {
    static let command = Command(
        "bench-store",
        "stores requests and their events",
        options: [
            .value("folder", "FOLDER", "where; it must be new"),
            .value("clients", "N", "requests under way", default: "64"),
            .value("seconds", "S", "how long to measure", default: "2"),
        ]
    )

    static func main() async throws {
        let options = try command.parse(Array(CommandLine.arguments.dropFirst()))
        let clients = try options.integer("clients", in: 1...1000) ?? 64
        let seconds = try options.seconds("seconds") ?? 2
        guard let folder = options.value("folder") else { throw UsageError("--folder is needed") }
        let store = try SQLiteSessionStore(folder: folder)
        let progress = Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<clients {
                group.addTask {
                    let session = Identifier.timeOrdered(milliseconds: UInt64(Timestamp.now.milliseconds))
                    try await store.createSession(session, owner: "bench", at: .now)
                    while progress.phase.load(ordering: .relaxed) < 2 {
                        try await request(store, session)
                        if progress.phase.load(ordering: .relaxed) == 1 {
                            progress.count.wrappingAdd(1, ordering: .relaxed)
                        }
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(500))
            let start = ContinuousClock.now
            let before = store.commitCount
            progress.phase.store(1, ordering: .relaxed)
            try await Task.sleep(for: .seconds(seconds))
            progress.phase.store(2, ordering: .relaxed)
            let elapsed = (ContinuousClock.now - start) / .seconds(1)
            let requests = Double(progress.count.load(ordering: .relaxed))
            let commits = Double(store.commitCount - before)
            printOutput("{\"requests_s\":\(requests / elapsed),\"commits_s\":\(commits / elapsed)}")
            try await group.waitForAll()
        }
        await store.close()
    }

    private static func request(_ store: SQLiteSessionStore, _ session: Identifier) async throws {
        let now = Timestamp.now
        let request = Identifier.timeOrdered(milliseconds: UInt64(now.milliseconds))
        let job = request.job(step: 1)
        func draft(_ type: String, _ data: String) -> EventDraft {
            let head = "{\"time\":\"\(now)\",\"session\":\"\(session)\",\"request\":\"\(request)\""
            return EventDraft(type: type, json: Array("\(head),\"type\":\"\(type)\",\"data\":\(data)}".utf8))
        }
        let text = "How long does it take?"
        let acceptance = Acceptance(
            request: request,
            session: session,
            owner: "bench",
            time: now,
            text: text,
            input: Array("{\"skill\":\"bench\"}".utf8),
            timeout: 600_000,
            events: [draft("request.accepted", "{\"text\":\"\(text)\",\"attachments\":[]}")]
        )
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            store.accept(acceptance) { result in
                continuation.resume(with: result.map { _ in }.mapError { $0 as any Error })
            }
        }
        let output = "{\"text\":\"\",\"parts\":[]}"
        let events = JobEvents(
            execution: Execution(job: job, generation: 1, attempt: 1),
            skill: "bench",
            lastSequence: 2,
            events: [
                draft("job.started", "{\"worker\":\"bench\",\"engine\":\"offline\"}"),
                draft(
                    "job.finished",
                    "{\"output\":\(output),\"engine\":\"offline\",\"cached\":false,\"milliseconds\":0}"
                ),
            ],
            worker: "bench",
            outcome: "finished"
        )
        let end = draft("request.finished", "{\"output\":\(output)}")
        let items: [EventBatch.Item] = [.job(events), .end(.finished, end, answer: "")]
        let batch = EventBatch(session: session, request: request, time: now, items: items)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            store.append(batch) { result in continuation.resume(with: result.map { _ in }.mapError { $0 as any Error })
            }
        }
    }
}
