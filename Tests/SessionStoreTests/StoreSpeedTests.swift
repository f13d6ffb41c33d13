import Glibc
import SessionStore
import Telemetry
import TestSupport
import Testing
import Wire

/// Figures, not promises: run with SKILLBUS_MEASURE=1, in a release build.
@Suite(.serialized, .enabled(if: getenv("SKILLBUS_MEASURE") != nil)) struct StoreSpeedTests {
    private func measured(_ name: String, _ count: Int, _ body: () async throws -> Void) async rethrows {
        let start = ContinuousClock.now
        try await body()
        let time = ContinuousClock.now - start
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        print("\(name): \(Int(Double(count) / seconds)) a second, \(Int(seconds * 1e6 / Double(count))) us each")
    }

    @Test func figures() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteSessionStore(folder: folder.path)
        let session = try await TestSession(store)
        let text = String(repeating: "x", count: 100)
        await #expect(throws: Never.self) {
            try await measured("requests one by one", 500) {
                for _ in 0..<500 {
                    _ = try await session.accept(session.acceptance(text, perSession: 10_000, perOwner: 10_000))
                }
            }
        }
        for width in [8, 64] {
            let other = try await TestSession(store, owner: "owner \(width)")
            try await measured("requests, \(width) at a time", 64 * 30) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<width {
                        group.addTask {
                            for _ in 0..<(64 * 30 / width) {
                                let acceptance = other.acceptance(text, perSession: 10_000, perOwner: 10_000)
                                _ = try await other.accept(acceptance)
                                try await other.append(
                                    acceptance.request,
                                    .end(.finished, draft("request.finished"), answer: "")
                                )
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
        for size in [1, 20] {
            let other = try await TestSession(store, owner: "events \(size)")
            let request = try await other.request()
            let commits = store.commitCount
            try await measured("events, \(size) to a batch, 32 jobs", 20_000) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for step in 1...32 {
                        group.addTask {
                            for number in 1...(20_000 / size / 32) {
                                let last = UInt64(number * size)
                                try await other.append(
                                    request,
                                    job(request, step: UInt16(step), last: last, count: size)
                                )
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            print("  in \(store.commitCount - commits) commits")
            var number: UInt64 = 0
            var read = 0
            try await measured("events read in pages of 48 KB", 20_000) {
                while case let page = try await other.events(after: number, maxBytes: 48 * 1024), let last = page.last {
                    number = last.seq
                    read += page.count
                }
            }
            print("  \(read) read")
        }
        await store.close()
    }
}
