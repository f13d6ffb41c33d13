internal import Bus
internal import Synchronization
internal import Wire

/// Questions to routers: what skills are there, and what would be done with a text.
extension RouterLinks {
    typealias Answer = Result<[UInt8], GatewayError>

    /// Questions that wait for their answers.
    struct Questions {
        struct Question {
            let link: BusLink
            let deadline: UInt64
            let continuation: CheckedContinuation<Answer, Never>
        }
        private var open: [UInt64: Question] = [:]
        private var next: UInt64 = 1

        var isEmpty: Bool { open.isEmpty }

        mutating func add(_ question: Question) -> UInt64 {
            defer { next += 1 }
            open[next] = question
            return next
        }

        mutating func take(_ number: UInt64) -> Question? { open.removeValue(forKey: number) }

        /// Takes out those over a link; all for nil.
        mutating func take(over link: BusLink?) -> [Question] {
            let taken = open.filter { link == nil || $0.value.link == link }
            for number in taken.keys { open[number] = nil }
            return Array(taken.values)
        }

        func late(_ now: UInt64) -> [UInt64] { open.filter { now >= $0.value.deadline }.map(\.key) }
    }

    /// How long an answer to a question is waited for.
    private static let answerTime: UInt64 = 3000

    /// Asks the router that would get such a request.
    /// - Returns: The body of its answer.
    func ask(_ query: Query) async throws(GatewayError) -> [UInt8] {
        let router = requests.router(for: [])
        let link = state.withLock { state in router.flatMap { state.link(to: $0) } ?? state.ready.first }
        guard let link else { throw .noRouter }
        return try await ask(query, over: link).get()
    }

    /// Asks all routers for their skills.
    /// - Returns: JSON `{"skills": [...]}`: each skill once, with the workers of all of them.
    func skills() async throws(GatewayError) -> [UInt8] {
        let links = state.withLock { $0.ready }
        guard links.count > 1 else { return try await ask(Query(ask: .skills)) }
        let answers = await withTaskGroup(of: (BusLink, Answer).self) { group in
            for link in links { group.addTask { (link, await self.ask(Query(ask: .skills), over: link)) } }
            return await group.reduce(into: [(link: BusLink, answer: Answer)]()) { $0.append($1) }
        }
        let lists = answers.compactMap { link, answer -> SkillList? in
            guard let body = try? answer.get(), let list = try? JSONBody.decode(SkillList.self, from: body) else {
                return nil
            }
            // What is shown is what is chosen by, though the router would say so itself a moment later.
            if let router = state.withLock({ $0.links[link]?.router }) {
                let served = list.skills.filter { !$0.workers.isEmpty }.map(\.manifest.id)
                requests.routerServes(router, Set(served), now: Monotonic.milliseconds)
            }
            return list
        }
        guard !lists.isEmpty, let merged = try? JSONBody.encode(SkillList(merging: lists)) else {
            if let first = answers.first { return try first.answer.get() }
            throw .noRouter
        }
        return merged
    }

    private func ask(_ query: Query, over link: BusLink) async -> Answer {
        let body: [UInt8]
        do throws(WireError) {
            body = try JSONBody.encode(query)
        } catch {
            return .failure(.invalid(field: "text", reason: "cannot be sent (\(error))"))
        }
        do throws(WireError) {
            try Outgoing(Header(.query), body: body).check()
        } catch {
            return .failure(.tooLarge(what: "question", limit: Limits.message, got: body.count))
        }
        return await withCheckedContinuation { continuation in
            let number = state.withLock { state in
                state.questions.add(
                    .init(
                        link: link,
                        deadline: Monotonic.milliseconds + RouterLinks.answerTime,
                        continuation: continuation
                    )
                )
            }
            if !send(Outgoing(Header(.query, sequence: number), body: body), over: link) {
                settle(number, .failure(.noRouter))
            }
        }
    }

    func settle(_ number: UInt64, _ result: Answer) {
        let question = state.withLock { $0.questions.take(number) }
        question?.continuation.resume(returning: result)
    }

    /// Answers all questions over a link, or all there are.
    func settleAll(over link: BusLink?, _ error: GatewayError) {
        let questions = state.withLock { $0.questions.take(over: link) }
        questions.forEach { $0.continuation.resume(returning: .failure(error)) }
    }
}

extension SkillList {
    /// What several routers know, as one list. A worker that is registered with several has promised each a part of its
    /// slots.
    init(merging lists: [SkillList]) {
        var entries: [String: Entry] = [:]
        for entry in lists.flatMap(\.skills) {
            guard var known = entries[entry.manifest.id] else {
                entries[entry.manifest.id] = entry
                continue
            }
            if !entry.workers.isEmpty {
                if known.workers.isEmpty { known.manifest = entry.manifest }
                known.manifest.addParties(of: entry.manifest)
            }
            known.queued += entry.queued
            for worker in entry.workers {
                let place = known.workers.firstIndex {
                    ($0.id, $0.host, $0.pid) == (worker.id, worker.host, worker.pid)
                }
                if let place {
                    known.workers[place].credit += worker.credit
                    known.workers[place].busy += worker.busy
                } else {
                    known.workers.append(worker)
                }
            }
            entries[entry.manifest.id] = known
        }
        self.init(skills: entries.keys.sorted().compactMap { entries[$0] })
    }
}
