internal import Bus
internal import Credentials
internal import SessionStore
internal import Synchronization
internal import Telemetry
internal import Wire

/// The gateway without HTTP: sessions, requests and their events, durable, over its routers.
final class SessionService: SessionAPI {
    /// Sessions belong to the tenant of a token. Without tokens there is one owner: whoever can reach the gateway.
    static let owner = "local"

    let store: any SessionStore
    let requests: OpenRequests
    let followers: Followers
    let links: RouterLinks
    let log: Log
    let quota: Quota
    let memory: ConversationMemory
    /// What of a session may go to outside parties whose maker says nothing of that.
    let privacy: PrivacyPolicy
    private let drains = Atomic<Bool>(false)
    var isDraining: Bool { drains.load(ordering: .relaxed) }
    private let clock = Mutex<Task<Void, Never>?>(nil)
    private let pruning = Mutex<Task<Void, Never>?>(nil)
    /// Requests with large files are read and sent one after the other: each is in memory for that time.
    let largeDispatch = Turnstile()
    let ticks: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    /// Makes a service over an open store. The name must be stable over restarts.
    init(
        store: any SessionStore,
        name: String,
        key: ClientKey? = nil,
        log: Log,
        quota: Quota = Quota(),
        privacy: PrivacyPolicy = .localOnly,
        memorySkill: String? = nil,
        memoryPatience: ConversationMemory.Patience = ConversationMemory.Patience(),
        patience: OpenRequests.Patience = OpenRequests.Patience()
    ) throws(BusError) {
        self.store = store
        self.log = log
        self.quota = quota
        self.privacy = privacy
        followers = Followers()
        requests = OpenRequests(store: store, followers: followers, log: log, patience: patience)
        links = try RouterLinks(name: name, requests: requests, key: key, log: log)
        memory = ConversationMemory(
            store: store,
            requests: requests,
            links: links,
            log: log,
            skill: memorySkill,
            patience: memoryPatience
        )
        ticks = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes up what was open when the process ended. To be called once, before anything else.
    func restore() async throws(StoreError) {
        requests.attach(router: links) { [weak self] request in
            Task { await self?.dispatch(request) }
        }
        let open: [OpenRequestRecord]
        if let sharedStore { open = try await sharedStore.ownRequests() } else { open = try await store.openRequests() }
        for record in open { restore(record) }
        if !open.isEmpty { log.info("going on with open requests", ["count": .number(open.count)]) }
        let clock = Task { [requests, stream = ticks.stream, sharedStore] in
            // Without a lease another gateway may have them: nothing is ended for its time.
            await SessionService.tick(stream, requests) { sharedStore?.holdsLease ?? true }
        }
        self.clock.withLock { $0 = clock }
        ticks.continuation.yield()
        sharedStore?.join(self)
    }

    /// Connects to the routers, and stays connected.
    func connect(_ endpoints: [String]) throws(BusError) { try links.start(endpoints) }

    /// Deletes what is too old or too much, from now on every ten minutes.
    func keepOnly(_ retention: Retention, every interval: Duration = .seconds(600)) {
        guard retention.deletes else { return }
        let task = Task { [store, followers, log] in
            while !Task.isCancelled {
                do throws(StoreError) {
                    let deleted = try await store.prune(retention, at: .now)
                    deleted.sessions.forEach(followers.wake)
                    if deleted.requests > 0 || !deleted.sessions.isEmpty {
                        log.info(
                            "old sessions deleted",
                            ["sessions": .number(deleted.sessions.count), "requests": .number(deleted.requests)]
                        )
                    }
                } catch {
                    log.warning("old sessions are not deleted", ["reason": "\(error)"])
                }
                try? await Task.sleep(for: interval)
            }
        }
        pruning.withLock { $0 = task }
    }

    /// Takes nothing new, and lets followers go.
    func stopTaking() {
        drains.store(true, ordering: .relaxed)
        followers.close()
    }

    /// Writes what is waiting and closes everything. What is open goes on with the next start.
    func close() async {
        stopTaking()
        clock.withLock { $0 }?.cancel()
        pruning.withLock { $0 }?.cancel()
        ticks.continuation.finish()
        await links.close()
        requests.background.lost(nil)
        await store.close()
    }

    /// Returns when the store's readers have answered a question, whatever it is.
    func look() async { _ = try? await store.lastSequence(of: .none, owner: SessionService.owner) }

    var readiness: Readiness {
        Readiness(
            router: links.isReady,
            store: store.isWritable,
            draining: isDraining
        )
    }

    // MARK: Sessions

    func createSession(owner: String, privacy: PrivacyPolicy?) async throws(GatewayError) -> Identifier {
        try refuseWhileDraining()
        try refuseWhileStoreIsAway()
        let now = Timestamp.now
        let session = Identifier.timeOrdered(milliseconds: UInt64(max(0, now.milliseconds)))
        do throws(StoreError) {
            try await store.createSession(session, owner: owner, privacy: privacy ?? self.privacy, at: now)
        } catch {
            throw GatewayError(error)
        }
        return session
    }

    func snapshot(of session: Identifier, owner: String) async throws(GatewayError) -> SessionSnapshot {
        do throws(StoreError) {
            let record = try await store.session(session, owner: owner, messages: 500)
            return SessionSnapshot(id: session, record)
        } catch {
            throw GatewayError(error, session: session)
        }
    }

    func sessions(owner: String, before cursor: Int64?, limit: Int) async throws(GatewayError) -> SessionPage {
        let limit = min(max(limit, 1), 1000)
        do throws(StoreError) {
            let list = try await store.sessions(owner: owner, before: cursor, limit: limit)
            let entries = list.map { session in
                SessionPage.Entry(
                    id: session.id,
                    created: "\(session.created)",
                    updated: "\(session.updated)",
                    seq: session.lastSequence,
                    title: session.title,
                    running: session.open
                )
            }
            return SessionPage(sessions: entries, next: list.count == limit ? list.last?.number : nil)
        } catch {
            throw GatewayError(error)
        }
    }

    func events(
        of session: Identifier,
        owner: String,
        after number: UInt64,
        maxBytes: Int
    ) async throws(GatewayError) -> EventPage {
        let page: StoredPage
        do throws(StoreError) {
            page = try await store.events(
                of: session,
                owner: owner,
                after: min(number, UInt64(Int64.max)),
                maxBytes: maxBytes
            )
        } catch {
            throw GatewayError(error, session: session)
        }
        // A number from the future is one of a store that was restored from an older copy.
        if number > page.lastSequence {
            let gap = gapEvent(session, from: page.lastSequence + 1, to: number)
            return EventPage(events: [], gap: gap, next: page.lastSequence)
        }
        // Numbers have no holes, so a first one that is not the next means that those between were pruned.
        let first = page.events.first?.seq ?? number + 1
        return EventPage(
            events: page.events,
            gap: first > number + 1 ? gapEvent(session, from: number + 1, to: first - 1) : nil,
            next: page.events.last?.seq ?? number
        )
    }

    func follow(_ session: Identifier, owner: String) async throws(GatewayError) -> Follower {
        do throws(StoreError) {
            _ = try await store.lastSequence(of: session, owner: owner)
        } catch {
            throw GatewayError(error, session: session)
        }
        let follower = followers.add(to: session) { [requests, sharedStore] session in
            if let sharedStore { return sharedStore.lastFollowerLeft(session) }
            requests.lastFollowerLeft(session, now: Monotonic.milliseconds)
        }
        sharedStore?.lookAgain()
        return follower
    }

    func jobLog(owner: String, after cursor: Int64?, limit: Int) async throws(GatewayError) -> JobLogPage {
        do throws(StoreError) {
            let limit = min(max(limit, 1), 1000)
            let jobs = try await store.jobs(owner: owner, after: cursor, limit: limit)
            let entries = jobs.map { job in
                JobLogPage.Entry(
                    time: "\(job.ended)",
                    session: job.session,
                    request: job.job.request,
                    job: job.job,
                    skill: job.skill,
                    worker: job.worker,
                    attempts: job.attempts,
                    milliseconds: max(0, job.ended.milliseconds - job.started.milliseconds),
                    outcome: job.outcome
                )
            }
            return JobLogPage(jobs: entries, next: jobs.last?.number ?? cursor ?? 0)
        } catch {
            throw GatewayError(error)
        }
    }

    // MARK: Questions to the routers

    func skills() async throws(GatewayError) -> [UInt8] { try await links.skills() }

    func route(_ text: String, attachments: [JobInput.Attachment]) async throws(GatewayError) -> Plan {
        guard !text.allSatisfy(\.isWhitespace) || !attachments.isEmpty else { throw NewRequest.emptyText }
        guard text.utf8.count <= Limits.requestText else {
            throw .tooLarge(what: "text", limit: Limits.requestText, got: text.utf8.count)
        }
        let answer = try await links.ask(
            Query(ask: .route, text: text, attachments: attachments.isEmpty ? nil : attachments)
        )
        do throws(WireError) {
            return try JSONBody.decode(Plan.self, from: answer)
        } catch {
            throw .refused(
                JobError(code: JobError.Code.badMessage, message: "The router's answer cannot be read: \(error).")
            )
        }
    }

    func refuseWhileDraining() throws(GatewayError) {
        if isDraining { throw .draining }
    }

    /// A store that takes nothing may take its time to say so: whoever asks is told at once. It is looked at again each
    /// second.
    func refuseWhileStoreIsAway() throws(GatewayError) {
        if let failure = store.writeFailure { throw .storeUnavailable(reason: "\(failure)") }
    }

    private func gapEvent(_ session: Identifier, from: UInt64, to: UInt64) -> [UInt8] {
        var json = JSONText()
        json.raw(#"{"time":"#)
        json.plain(Timestamp.now.description)
        json.raw(#","session":"#)
        json.plain(session.description)
        json.raw(#","type":"gap","data":{"from":"#)
        json.number(from)
        json.raw(#","to":"#)
        json.number(to)
        json.raw("}}")
        return json.bytes
    }
}

extension GatewayError {
    /// What a failure of the store means to the caller.
    init(_ error: StoreError, session: Identifier? = nil) {
        switch error {
        case .notFound: self = .sessionNotFound(session?.description ?? "")
        case .pruned: self = .sessionPruned(session?.description ?? "")
        case .closed: self = .draining
        default: self = .storeUnavailable(reason: "\(error)")
        }
    }
}
