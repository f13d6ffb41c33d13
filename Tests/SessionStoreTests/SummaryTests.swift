import FoundationEssentials
import StoreTesting
import Telemetry
import TestSupport
import Testing
import Wire

@testable import SessionStore

/// What was said before in a session, in short.
@Suite struct SummaryTests {
    /// A session with so many turns that have ended, the first ones an hour ago.
    private func talk(_ store: OpenStore, turns: Int, text: String = "question") async throws -> TestSession {
        let session = try await TestSession(store)
        for number in 1...turns {
            let request = try await session.request("\(text) \(number)")
            try await session.append(
                request,
                .end(.finished, draft("request.finished"), answer: "answer \(number)")
            )
        }
        return session
    }

    @Test(arguments: StoreKind.all) func turnsAreHandedOutUntilASummaryCoversThem(kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await talk(store, turns: 4)
        let open = try await session.request("still open")
        let before = try await store.conversation(before: open, limit: 2)
        #expect(before.turns.map(\.text) == ["question 3", "question 4"] && before.summary == nil)
        let third = try #require(before.turns.first).number

        let page = try await store.unsummarised(in: session.id, before: third, limit: 9)
        #expect(page.turns.map(\.text) == ["question 1", "question 2"] && page.owner == session.owner)
        #expect(page.turns.map(\.answer) == ["answer 1", "answer 2"])
        #expect(try await store.unsummarised(in: session.id, before: third, limit: 1).turns.count == 1)
        let summary = ConversationSummary(text: "two\u{0}", last: page.turns[1].number, turns: 2, time: .now)
        try await store.summarised(session.id, as: summary)

        #expect(try await store.conversation(before: open, limit: 2).summary == summary)
        #expect(try await store.session(session.id, owner: session.owner, messages: 9).summary == summary)
        let left = try await store.unsummarised(in: session.id, before: .max, limit: 9)
        #expect(left.turns.map(\.text) == ["question 3", "question 4"] && left.summary == summary)
        // One that covers less comes too late.
        let late = ConversationSummary(text: "one", last: page.turns[0].number, turns: 1, time: .now)
        try await store.summarised(session.id, as: late)
        #expect(try await store.conversation(before: open, limit: 2).summary == summary)
        let next = ConversationSummary(text: "three", last: third, turns: 3, time: .now)
        try await store.summarised(session.id, as: next)
        #expect(try await store.conversation(before: open, limit: 2).summary == next)
        // It is of this session only.
        let other = try await TestSession(store)
        let theirs = try await other.request()
        #expect(try await store.conversation(before: theirs, limit: 2) == ConversationRecord(turns: []))
        await #expect(throws: StoreError.notFound) { try await store.summarised(newIdentifier(), as: next) }
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func whatIsDeletedIsInNoSummary(kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await talk(store, turns: 3)
        let open = try await session.request("still open")
        let page = try await store.unsummarised(in: session.id, before: .max, limit: 2)
        let last = try #require(page.turns.last).number
        let summary = ConversationSummary(text: "two", last: last, turns: 2, time: .now)
        try await store.summarised(session.id, as: summary)
        _ = try await store.prune(
            Retention(age: 1),
            at: Timestamp(milliseconds: Timestamp.now.milliseconds + 3_600_000)
        )
        #expect(try await store.conversation(before: open, limit: 9) == ConversationRecord(turns: []))
        #expect(try await store.session(session.id, owner: session.owner, messages: 9).summary == nil)
        // One that was being made of it meanwhile is not stored.
        await #expect(throws: StoreError.notFound) { try await store.summarised(session.id, as: summary) }
        try await session.append(open, .end(.finished, draft("request.finished"), answer: "a"))
        try await store.forget(session.id, owner: session.owner)
        try await store.check()
    }

    /// Nothing of it is left in the files when its session is forgotten, nor of the one that it took the place of.
    @Test func aForgottenSessionLeavesNoSummary() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteSessionStore(folder: folder.path)
        let session = try await TestSession(store)
        var requests: [Identifier] = []
        for _ in 1...2 {
            let request = try await session.request()
            try await session.append(request, .end(.finished, draft("request.finished"), answer: "a"))
            requests.append(request)
        }
        let turns = try await store.unsummarised(in: session.id, before: .max, limit: 9).turns
        for (word, turn) in zip(["plugh-the-first", "xyzzy-the-second"], turns) {
            // As long as one may be, which is more than a page has room for.
            let text = String(String(repeating: "\(word) ", count: 300).prefix(4096))
            let summary = ConversationSummary(text: text, last: turn.number, turns: 1, time: .now)
            try await store.summarised(session.id, as: summary)
        }
        // The files are read one after the other, and what is in the one may be moved to the other meanwhile.
        #expect(try (1...20).contains { _ in try files(of: folder, have: "xyzzy-the-second") })
        try await store.forget(session.id, owner: session.owner)
        #expect(try !files(of: folder, have: "xyzzy-the-second"))
        #expect(try !files(of: folder, have: "plugh-the-first"))
        await store.close()
    }

    private func files(of folder: TemporaryFolder, have word: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).contains { name in
            try Data(contentsOf: URL(filePath: folder.file(name))).firstRange(of: Data(word.utf8)) != nil
        }
    }

    /// A store of the version before has no table for it.
    @Test func anOlderStoreGetsIt() async throws {
        let folder = try TemporaryFolder()
        try Schema.create(at: folder.file("sessions.db"), in: folder.path, version: 4)
        #expect(try SQLiteSessionStore.check(folder: folder.path).version == 4)
        let store = try SQLiteSessionStore(folder: folder.path)
        let session = try await TestSession(store)
        let request = try await session.request()
        try await session.append(request, .end(.finished, draft("request.finished"), answer: "a"))
        let turn = try #require(try await store.unsummarised(in: session.id, before: .max, limit: 9).turns.first)
        let summary = ConversationSummary(text: "one", last: turn.number, turns: 1, time: .now)
        try await store.summarised(session.id, as: summary)
        #expect(try await store.session(session.id, owner: session.owner, messages: 1).summary == summary)
        await store.close()
        #expect(try SQLiteSessionStore.check(folder: folder.path).version == 5)
    }
}
