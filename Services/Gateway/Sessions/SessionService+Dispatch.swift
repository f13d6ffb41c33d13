internal import Bus
internal import SessionStore
internal import Telemetry
internal import Wire

extension SessionService {
    /// Puts a request into a message and gives it to the router.
    func dispatch(_ request: Identifier) async {
        guard let (generation, finished) = requests.beginDispatch(request) else { return }
        guard let (router, isAttached) = requests.target(of: request) else {
            // It went in between; the request's turn comes with the next.
            return requests.dispatch(request, generation: generation, now: Monotonic.milliseconds) { _ in false }
        }
        do {
            let record = try await store.openRequest(request)
            guard requests.isCurrent(record) else { return requests.superseded(request) }
            let conversation = try await store.conversation(before: request, limit: History.requests)
            let begun = generation > 1 ? requests.begunJobs(of: request) : []
            let stored = try JSONBody.decode(RequestInput.self, from: record.input)
            // The stricter one counts.
            let privacy = min(record.privacy, stored.privacy ?? .allow)
            let answers = privacy == .ask ? try await store.approvals(of: request) : []
            if !answers.isEmpty { requests.answered(request, answers, now: Monotonic.milliseconds) }
            let history = History.turns(conversation.turns)
            var message = try submission(
                record,
                stored,
                generation: generation,
                finished: finished,
                begun: begun,
                history: history.turns
            ) { input in
                input.summary = conversation.summary?.text
                guard privacy != .localOnly else { return }
                input.privacy = privacy
                let approved = answers.filter(\.choice.isAllowed).map(\.party)
                input.approved = approved.isEmpty ? nil : approved
            }
            if isAttached { message.header.flags.insert(.resent) }
            // Another router had it, whose jobs may be running on: they are waited for before anything begins anew.
            if generation > 1 { message.header.flags.insert(.elsewhere) }
            let bytes = record.attachments.reduce(0) { $0 + $1.bytes }
            let isLarge = bytes > 1024 * 1024
            if isLarge { await largeDispatch.enter() }
            defer { if isLarge { largeDispatch.leave() } }
            // What would not be taken is not read: its turn comes with the clock.
            let hasRoom = links.hasRoom(for: bytes, at: router)
            if hasRoom {
                message.attachments = try await attachments(of: record)
                try message.check()
            }
            let now = Monotonic.milliseconds
            requests.dispatch(request, generation: generation, to: router, now: now) { [message] remaining in
                guard hasRoom else { return false }
                var message = message
                message.header.value = remaining
                return links.send(message, to: router)
            }
            // There are older turns where so many were found, or not all of them went along.
            if let first = history.first,
                conversation.turns.count >= History.requests || first != conversation.turns.first?.number
            {
                memory.consider(record.session, before: first)
            }
        } catch StoreError.notFound {
            // It ended in the meantime.
        } catch let error as StoreError where error.isTransient {
            log.warning("a request cannot be read", ["request": "\(request)", "reason": "\(error)"])
            try? await Task.sleep(for: .seconds(1))
            requests.putOff(request)
        } catch let error as WireError {
            // Each part is within its limit; with what the steps before have made, the whole is not.
            let failure = JobError(
                code: "too_large",
                message: "The request cannot be sent on: \(error).",
                hint: "Ask for less at once, or with smaller files."
            )
            requests.failed(request, failure, now: Monotonic.milliseconds)
        } catch {
            log.error("a request cannot be submitted", ["request": "\(request)", "reason": "\(error)"])
            let failure = JobError(
                code: "store_unavailable",
                message: "The request could not be read back from the store.",
                retryable: true
            )
            requests.failed(request, failure, now: Monotonic.milliseconds)
        }
    }

    private func submission(
        _ record: OpenRequestRecord,
        _ stored: RequestInput,
        generation: UInt32,
        finished: [JobInput.Previous],
        begun: [Execution],
        history: [JobInput.Turn],
        completing complete: (inout JobInput) -> Void
    ) throws(WireError) -> Outgoing {
        var input = JobInput(session: record.session.description, text: record.text)
        let tenant = TenantNumber.of(record.owner)
        input.tenant = tenant == 0 ? nil : tenant
        input.arguments = stored.arguments
        if !record.attachments.isEmpty {
            input.attachments = record.attachments.map {
                JobInput.Attachment(name: $0.name, mediaType: $0.mediaType, bytes: $0.bytes)
            }
        }
        input.history = history.isEmpty ? nil : history
        input.explain = stored.explain
        input.cache = stored.cache
        input.canClarify = stored.canClarify
        input.routing = stored.skill == nil ? stored.routing : nil
        complete(&input)
        // A first submission of a request that names its skill carries no plan: the router makes that itself.
        if stored.skill == nil || generation > 1, let plan = record.plan {
            input.plan = try JSONBody.decode(Plan.self, from: plan)
            input.previous = finished.isEmpty ? nil : finished
        }
        return Outgoing(
            Header(.submit, flags: stored.priority?.flags ?? [], job: record.id, generation: generation),
            body: try JobBody.encode(skill: stored.skill ?? "", input: input, begun: begun)
        )
    }

    /// The files of a request as frames, one after the other: a file is there twice for as long as one is copied.
    private func attachments(of record: OpenRequestRecord) async throws(StoreError) -> [SharedFrame] {
        var frames: [SharedFrame] = []
        for position in record.attachments.indices {
            frames.append(SharedFrame(Message(copying: try await store.attachment(position, of: record.id))))
        }
        return frames
    }

    /// Puts a request that was open when the process ended back to where it was.
    func restore(_ record: OpenRequestRecord) {
        let plan = record.plan.flatMap { try? JSONBody.decode(Plan.self, from: $0) }
        var progress = RequestProgress(request: record.id, plan: plan, generation: record.generation)
        for job in record.jobs {
            progress.restore(
                job.execution,
                lastSequence: job.lastSequence,
                outcome: job.outcome == nil ? nil : RequestProgress.Outcome(terminal: job.terminal)
            )
        }
        // The time of day may have been set meanwhile, so a restart neither ends a request at once nor gives it more
        // than it had.
        let elapsed = max(0, Timestamp.now.milliseconds - record.created.milliseconds)
        let remaining = max(record.timeout - elapsed, min(record.timeout, 30_000))
        requests.restore(
            record,
            progress: progress,
            remaining: UInt64(max(1, remaining)),
            now: Monotonic.milliseconds
        )
    }

    /// Lets time pass for the open requests; sleeps for good while there are none.
    static func tick(
        _ wakeUps: AsyncStream<Void>,
        _ requests: OpenRequests,
        while isOwner: @Sendable () -> Bool
    ) async {
        for await _ in wakeUps {
            while !Task.isCancelled, requests.count > 0 {
                if isOwner() { requests.tick(now: Monotonic.milliseconds) }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}

extension NewRequest.Priority {
    fileprivate var flags: Header.Flags {
        switch self {
        case .high: .highPriority
        case .normal: []
        case .low: .lowPriority
        }
    }
}

extension RequestProgress.Outcome {
    /// Reads the stored event that ended a job.
    init(terminal json: [UInt8]?) {
        let event = json.flatMap { try? JSONBody.decode(SessionEvent.self, from: $0) }
        if event?.type == SessionEvent.Kind.jobFinished, let output = event?.data["output"],
            let bytes = try? JSONBody.encode(output), let read = try? JSONBody.decode(SkillOutput.self, from: bytes)
        {
            self = .finished(read)
            return
        }
        let error = event?.data["error"].flatMap { try? JSONBody.encode($0) }
            .flatMap { try? JSONBody.decode(JobError.self, from: $0) }
        self = .failed(error ?? JobError(code: JobError.Code.skillFailed, message: "The step failed."))
    }
}
