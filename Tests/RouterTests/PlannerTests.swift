import Bus
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Router

/// The thread that chooses skills, and the one that learns meanwhile.
@Suite("Planner")
struct PlannerTests {
    private static let places = ["greenhouse", "kennel", "observatory", "harbour"]
    private static let things = [
        ["tomatoes", "basil", "vents", "seedlings"], ["spaniel", "collie", "leash", "puppy"],
        ["telescope", "comet", "dome", "mirror"], ["ferry", "anchor", "pier", "buoy"],
    ]

    /// Skills of kinds that no lexicon knows, with so many examples each.
    private static func manifests(_ prefix: String, examples count: Int) -> [SkillManifest] {
        zip(places, things).map { place, things in
            SkillManifest(
                id: "\(prefix)-\(place)",
                description: "The \(place).",
                examples: (0..<count).map { number in
                    "look after the \(things[number % 4]) and number \(number) of the \(things[(number / 4) % 4])"
                }
            )
        }
    }

    private func answer(_ planner: Planner, _ wakeUp: WakeUp, _ text: String) async throws -> Plan {
        planner.submit(.init(number: 1, kind: .question(Query(ask: .route, text: text))))
        let found = Mutex<Plan?>(nil)
        _ = await eventually {
            for case (_, .question(let plan)) in planner.takeResults() { found.withLock { $0 = plan } }
            return found.withLock { $0 != nil }
        }
        wakeUp.clear()
        return try #require(found.withLock { $0 })
    }

    private func hasLearned(_ plan: Plan) -> Bool {
        plan.scores?.contains { $0.reasons.contains { $0.contains("like its examples in all") } } == true
    }

    @Test("Skills are chosen at once, and by what was learned a moment later")
    func learns() async throws {
        let wakeUp = try WakeUp()
        let planner = Planner(wakeUp: wakeUp)
        defer { planner.close() }
        planner.update(Self.manifests("new", examples: 4))
        let first = try await answer(planner, wakeUp, "look after the comet")
        #expect(first.scores?.isEmpty == false)
        var plan = first
        for _ in 0..<2000 where !hasLearned(plan) { plan = try await answer(planner, wakeUp, "look after the comet") }
        #expect(hasLearned(plan))
        #expect(plan.steps.map(\.skill) == ["new-observatory"])
    }

    @Test("Where two skills fit, whoever can be asked is asked; everybody else gets the better one")
    func unclear() async throws {
        let wakeUp = try WakeUp()
        let planner = Planner(wakeUp: wakeUp)
        defer { planner.close() }
        planner.update(
            ["one", "two"].map {
                SkillManifest(id: $0, displayName: "The \($0)", description: "Summarise a text. 总结文本。")
            }
        )
        func result(_ input: JobInput) async throws -> PlanningResult {
            planner.submit(.init(number: 1, kind: .request(body: try JobBody.encode(skill: "", input: input))))
            let found = Mutex<PlanningResult?>(nil)
            _ = await eventually {
                for case (_, .request(let result)) in planner.takeResults() { found.withLock { $0 = result } }
                return found.withLock { $0 != nil }
            }
            wakeUp.clear()
            return try #require(found.withLock { $0 })
        }
        guard
            case .unclear(let plan, let candidates) = try await result(
                JobInput(session: "s", text: "总结", canClarify: true)
            )
        else {
            Issue.record("nobody is asked")
            return
        }
        #expect(plan == Plan(mode: .none, steps: []))
        // Which is the better one may change with what is learned of their names a moment later.
        let both: Set = ["one", "two"]
        #expect(Set(candidates.map(\.skill)) == both)
        #expect(candidates.allSatisfy { $0.displayName == "The \($0.skill)" })
        for canClarify in [nil, false] {
            let input = JobInput(session: "s", text: "总结", canClarify: canClarify)
            guard case .plan(let plan, _) = try await result(input) else {
                Issue.record("asked though nobody can answer")
                return
            }
            #expect(plan.steps.count == 1 && plan.steps.allSatisfy { both.contains($0.skill) })
            #expect(plan.candidates == nil)
        }
        let shown = try await answer(planner, wakeUp, "总结")
        #expect(shown.steps.map(\.skill) == shown.candidates?.prefix(1).map(\.skill))
        #expect(Set(shown.candidates?.map(\.skill) ?? []) == both)
    }

    @Test("Where a model is to choose, the router's own decision is kept at hand")
    func open() async throws {
        let wakeUp = try WakeUp()
        let planner = Planner(wakeUp: wakeUp)
        defer { planner.close() }
        planner.update([SkillManifest(id: "one", description: "Summarise a text. 总结文本。", priority: 10)])
        func result(_ input: JobInput) async throws -> PlanningResult {
            planner.submit(.init(number: 1, kind: .request(body: try JobBody.encode(skill: "", input: input))))
            let found = Mutex<PlanningResult?>(nil)
            _ = await eventually {
                for case (_, .request(let result)) in planner.takeResults() { found.withLock { $0 = result } }
                return found.withLock { $0 != nil }
            }
            wakeUp.clear()
            return try #require(found.withLock { $0 })
        }
        guard
            case .open(let choice, local: .plan(let plan, let given)) = try await result(
                JobInput(session: "s", text: "summarise this: a b c", routing: .model)
            )
        else {
            Issue.record("no model is to choose")
            return
        }
        #expect(plan.steps.map(\.skill) == ["one"] && given.isNew && choice.input.routing == .model)
        #expect(choice.material == given.material)
        // Who has a plan already, and who asks for the router, gets that.
        for (made, routing) in [(Plan?.some(plan), Routing.model), (nil, .local)] {
            let input = JobInput(session: "s", text: "summarise this: a b c", plan: made, routing: routing)
            guard case .plan = try await result(input) else {
                Issue.record("a model is to choose all the same")
                return
            }
        }
    }

    @Test("What was learned of an older registry is not taken")
    func outdated() async throws {
        let wakeUp = try WakeUp()
        let planner = Planner(wakeUp: wakeUp)
        defer { planner.close() }
        planner.update(Self.manifests("old", examples: 150))
        // Read, and being learned.
        #expect(
            try await answer(planner, wakeUp, "look after the comet").scores?.first?.skill.hasPrefix("old-") == true
        )
        planner.update(Self.manifests("new", examples: 150))
        var answers = 0
        while true {
            let plan = try await answer(planner, wakeUp, "look after the comet")
            answers += 1
            let ids = (plan.scores ?? []).map(\.skill) + plan.steps.map(\.skill)
            #expect(!ids.isEmpty && ids.allSatisfy { $0.hasPrefix("new-") })
            if hasLearned(plan) { break }
            guard answers < 5000 else { break }
        }
        // The newer lesson came after the older one, which was over by then.
        #expect(hasLearned(try await answer(planner, wakeUp, "look after the comet")))
    }

    @Test("Of many changes in a row the last one is learned")
    func changes() async throws {
        let wakeUp = try WakeUp()
        let planner = Planner(wakeUp: wakeUp)
        defer { planner.close() }
        for number in 0..<20 { planner.update(Self.manifests("v\(number)", examples: 4)) }
        var plan = try await answer(planner, wakeUp, "look after the comet")
        for _ in 0..<2000 where !hasLearned(plan) { plan = try await answer(planner, wakeUp, "look after the comet") }
        #expect(hasLearned(plan))
        #expect(plan.scores?.allSatisfy { $0.skill.hasPrefix("v19-") } == true)
    }
}
