import Glibc
import SessionStore
import TestSupport
import Testing
import Wire

@Suite struct StoreFileTests {
    @Test func filesAreForTheUserOnly() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteSessionStore(folder: folder.file("a/b"))
        _ = try await TestSession(store)
        for (name, mode) in [("a/b", 0o700), ("a/b/sessions.db", 0o600), ("a/b/sessions.db-wal", 0o600)] {
            var status = stat()
            #expect(stat(folder.file(name), &status) == 0)
            #expect(status.st_mode & 0o777 == mode_t(mode), "\(name)")
        }
        await store.close()
    }

    @Test func aSecondProcessIsKeptOut() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteSessionStore(folder: folder.path)
        #expect(throws: StoreError.inUse(path: folder.path)) { _ = try SQLiteSessionStore(folder: folder.path) }
        await store.close()
    }

    @Test func whatCannotBeMadeClosesNobodysFiles() throws {
        let folder = try TemporaryFolder()
        try #require(mkdir(folder.file("sessions.db.new"), 0o700) == 0)
        #expect(throws: StoreError.self) { _ = try SQLiteSessionStore(folder: folder.path) }
        #expect(descriptorsOfOthersClosed { _ = try? SQLiteSessionStore(folder: folder.path) } == 0)
    }

    @Test func whatIsNoStoreIsRefused() throws {
        let folder = try TemporaryFolder()
        try folder.write("sessions.db", String(repeating: "this is no database. ", count: 100))
        #expect { _ = try SQLiteSessionStore(folder: folder.path) } throws: { error in
            if case StoreError.corrupt = error { true } else { false }
        }
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", "")
        #expect { _ = try SQLiteSessionStore(folder: folder.file("file/state")) } throws: { error in
            if case StoreError.cannotOpen(let path, _) = error { path.hasPrefix(folder.path) } else { false }
        }
    }

    @Test func whatIsLeftOfAStartThatWasCutShortIsMadeAnew() async throws {
        let folder = try TemporaryFolder()
        try folder.write("sessions.db.new", "half of a store")
        try folder.write("sessions.db", "")
        let store = try SQLiteSessionStore(folder: folder.path)
        _ = try await TestSession(store).request()
        await store.close()
    }

    @Test func whatWasWrittenIsThereAfterClosing() async throws {
        let folder = try TemporaryFolder()
        let first = try SQLiteSessionStore(folder: folder.path)
        let session = try await TestSession(first)
        let request = try await session.request()
        await first.close()
        await #expect(throws: StoreError.closed) { try await session.append(request, job(request, last: 1)) }
        let second = try SQLiteSessionStore(folder: folder.path)
        #expect(try await second.openRequests().map(\.id) == [request])
        await second.close()
    }

    @Test func aLaterSchemaIsNotTouched() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteSessionStore(folder: folder.path)
        await store.close()
        // The schema's version is a big-endian number at byte 60 of the file.
        let file = try #require(fopen(folder.file("sessions.db"), "r+"))
        fseek(file, 60, SEEK_SET)
        fwrite([UInt8](arrayLiteral: 0, 0, 0, 99), 1, 4, file)
        fclose(file)
        #expect(throws: StoreError.newerSchema(found: 99, known: 5)) {
            _ = try SQLiteSessionStore(folder: folder.path)
        }
    }

    /// A full disk, as a limit on the size of files: new requests are refused, events wait, and both go on by
    /// themselves. In a process of its own, since the limit is for the whole process.
    @Test func aFullDiskRefusesAndHeals() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            signal(SIGXFSZ, SIG_IGN)
            let store = try SQLiteSessionStore(folder: path + "/state")
            let session = try await TestSession(store)
            let request = try await session.request()
            var limit = rlimit(rlim_cur: 300_000, rlim_max: .max)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            var isFull = false
            for _ in 0..<200 where !isFull {
                do {
                    _ = try await session.request(String(repeating: "x", count: 20_000))
                } catch {
                    isFull = true
                }
            }
            precondition(isFull && !store.isWritable, "the limit was not met")
            // Patient: this returns only when it is stored.
            async let stored = session.append(request, job(request, last: 1))
            precondition(!store.isWritable)
            limit.rlim_cur = .max
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let outcome = try await stored
            precondition(outcome.stored == 1 && store.isWritable)
            // And by itself when nobody has anything to write.
            limit.rlim_cur = 1
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let refused = try? await session.request(String(repeating: "x", count: 20_000))
            precondition(refused == nil && !store.isWritable)
            limit.rlim_cur = .max
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let isWritable = await eventually { store.isWritable }
            precondition(isWritable)
            _ = try await session.request()
            await store.close()
        }
    }

    /// A process is killed while it writes: what it was told is stored is there, in order, and nothing is half there.
    @Test func killedInTheMiddleNothingAcknowledgedIsLost() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let store = try SQLiteSessionStore(folder: path + "/state")
            let session = try await TestSession(store)
            let request = try await session.request()
            let told = Glibc.open(path + "/told", O_WRONLY | O_CREAT | O_APPEND, 0o600)
            await withTaskGroup(of: Void.self) { group in
                for step in 1...8 {
                    group.addTask {
                        for number in 1...1000 {
                            let events = job(request, step: UInt16(step), last: UInt64(number))
                            guard (try? await session.append(request, events)) != nil else { return }
                            let line = "\(session.id) \(step) \(number)\n"
                            _ = write(told, line, line.utf8.count)
                            if step == 3, number == 60 { kill(getpid(), SIGKILL) }
                        }
                    }
                }
            }
        }
        let told = try lines(folder.file("told"))
        #expect(told.count >= 60)
        let store = try SQLiteSessionStore(folder: folder.file("state"))
        let id = try #require(told.first.flatMap { Identifier(String($0.split(separator: " ")[0])) })
        let left = try #require(try await store.openRequests().first)
        let page = try await store.events(of: id, owner: "someone", after: 0, maxBytes: 1 << 24)
        #expect(page.events.map(\.seq) == Array(1...UInt64(page.events.count)))
        var last: [UInt16: UInt64] = [:]
        for line in told {
            let fields = line.split(separator: " ")
            last[UInt16(fields[1])!] = max(last[UInt16(fields[1])!] ?? 0, UInt64(fields[2])!)
        }
        for (step, number) in last {
            let stored = left.jobs.first { $0.execution.job.step == step }?.lastSequence ?? 0
            #expect(stored >= number, "step \(step)")
        }
        await store.close()
    }
}

private func lines(_ path: String) throws -> [String] {
    let file = try #require(fopen(path, "r"), "\(path)")
    defer { fclose(file) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
}
