import Bus
import Intent
import Lifecycle
import Synchronization
import Wire

/// A request that waits for its plan.
struct PlanningTask {
    let header: Header
    let parcel: Parcel
    let gateway: GatewayLink
}

/// What came of it.
enum PlanningResult: Sendable {
    struct Given: Sendable {
        let input: JobInput
        let material: String?
        /// False for a plan that the gateway has already.
        let isNew: Bool
        /// Jobs that had begun under another router.
        var begun: [Identifier: Execution] = [:]
    }
    case plan(Plan, Given)
    case none(Plan, nearest: [String])
    /// The user is to say which of them is meant. The plan has nothing but scores, where they were asked for.
    case unclear(Plan, [Plan.Candidate])
    case unreadable(WireError)
    /// A model is to choose, and what stands here is done where it does not.
    indirect case open(OpenChoice, local: PlanningResult)
}

/// What is known of a request for which a model is to choose the skill.
struct OpenChoice: Sendable {
    let input: JobInput
    let material: String?
    /// What the text has for each skill.
    let arguments: [String: JSONValue]
    let scores: [Plan.Score]?
}

/// Chooses skills on a thread of its own, so that a long text or a change of the registry never holds up a dispatch. A new
/// skill is chosen at once, by its manifest; what its examples teach is learned on a second thread meanwhile.
///
/// The loop gives it work by number and takes the results when it is woken.
final class Planner: Sendable {
    struct Work: Sendable {
        let number: UInt64
        let kind: Kind
    }
    enum Kind: Sendable {
        case request(body: [UInt8])
        case question(Query)
    }
    enum Answer: Sendable {
        case request(PlanningResult)
        case question(Plan)
    }

    private struct State {
        var work: [Work] = []
        var results: [(number: UInt64, answer: Answer)] = []
        var manifests: [SkillManifest]?
        /// What is to be learned, by the number of the change that it came with.
        var lesson: (number: UInt64, model: IntentModel)?
        var learned: (number: UInt64, model: IntentModel)?
        var isLearning = false
        var isClosed = false
    }
    private let state = Mutex(State())
    private let wakeUp: WakeUp
    private let semaphore = WorkSignal()
    private let thresholds: RoutingThresholds

    /// Starts the thread; `wakeUp` is signalled when results are there.
    init(wakeUp: WakeUp, thresholds: RoutingThresholds = RoutingThresholds()) {
        self.wakeUp = wakeUp
        self.thresholds = thresholds
        startThread(named: "planner") { [self] in run() }
    }

    /// Skills have come, gone or changed.
    func update(_ manifests: [SkillManifest]) {
        state.withLock { $0.manifests = manifests }
        semaphore.signal()
    }

    func submit(_ work: Work) {
        state.withLock { $0.work.append(work) }
        semaphore.signal()
    }

    func takeResults() -> [(number: UInt64, answer: Answer)] {
        state.withLock { state in
            defer { state.results = [] }
            return state.results
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        semaphore.signal()
    }

    private func run() {
        // Made when it is first needed: a router without peers keeps neither its tables nor ICU's in memory.
        var model: IntentModel?
        var changes: UInt64 = 0
        while true {
            semaphore.wait()
            let (work, manifests, learned, isClosed) = state.withLock { state in
                defer {
                    state.work = []
                    state.manifests = nil
                    state.learned = nil
                }
                return (state.work, state.manifests, state.learned, state.isClosed)
            }
            if isClosed { return }
            if let manifests {
                let new = IntentModel(manifests: manifests, reusing: model).with(thresholds)
                model = new
                changes += 1
                learn(new, changes)
            }
            // What was learned of skills that have changed since is of no use.
            if let learned, learned.number == changes { model = learned.model }
            guard !work.isEmpty else { continue }
            let known = model ?? IntentModel(manifests: [])
            model = known
            let results = work.map { (number: $0.number, answer: Planner.answer($0.kind, known)) }
            state.withLock { $0.results += results }
            wakeUp.signal()
        }
    }

    /// Has a model learn from its examples. One thread does that, and of several changes learns the last.
    private func learn(_ model: IntentModel, _ number: UInt64) {
        let mustStart = state.withLock { state in
            state.lesson = (number, model)
            defer { state.isLearning = true }
            return !state.isLearning
        }
        guard mustStart else { return }
        startThread(named: "learner") { [self] in
            while true {
                let lesson = state.withLock { state in
                    defer { state.lesson = nil }
                    if state.lesson == nil { state.isLearning = false }
                    return state.lesson
                }
                guard let lesson else { return }
                let model = lesson.model.trained(thresholds)
                state.withLock { $0.learned = (lesson.number, model) }
                semaphore.signal()
            }
        }
    }

    private static func answer(_ kind: Kind, _ model: IntentModel) -> Answer {
        switch kind {
        case .request(let body): return .request(plan(body, model))
        case .question(let query):
            let decision = model.decide(
                RoutingQuestion(
                    text: query.text ?? "",
                    history: query.history ?? [],
                    attachments: query.attachments ?? []
                )
            )
            var plan = decision.plan
            plan.scores = decision.scores
            if !decision.candidates.isEmpty { plan.candidates = decision.candidates }
            return .question(plan)
        }
    }

    private static func plan(_ body: [UInt8], _ model: IntentModel) -> PlanningResult {
        let input: JobInput
        do {
            input = try JobBody.decode(body).input
        } catch {
            return .unreadable(error)
        }
        let size = input.text.utf8.count
        guard size <= Limits.requestText else {
            return .unreadable(.tooLarge(what: "text", limit: Limits.requestText, got: size))
        }
        if let plan = input.plan {
            guard (try? plan.validate()) != nil else {
                return .unreadable(.body(type: "Plan", reason: "the plan that came along cannot run"))
            }
            let begun = (try? JobBody.begun(body.span.bytes)) ?? [:]
            return .plan(plan, .init(input: input, material: input.material, isNew: false, begun: begun))
        }
        let decision = model.decide(
            RoutingQuestion(
                text: input.text,
                history: input.history ?? [],
                attachments: input.attachments ?? [],
                wantsReasons: input.explain == true,
                wantsArguments: input.routing == .model
            )
        )
        let local = local(decision, input)
        guard input.routing == .model else { return local }
        let choice = OpenChoice(
            input: input,
            material: decision.material,
            arguments: decision.arguments,
            scores: input.explain == true ? decision.scores : nil
        )
        return .open(choice, local: local)
    }

    private static func local(_ decision: RoutingDecision, _ input: JobInput) -> PlanningResult {
        var plan = decision.plan
        if input.explain == true { plan.scores = decision.scores }
        guard plan.mode != .none, !plan.steps.isEmpty, (try? plan.validate()) != nil else {
            return .none(Plan(mode: .none, steps: [], scores: plan.scores), nearest: decision.nearest)
        }
        if input.canClarify == true, !decision.candidates.isEmpty {
            return .unclear(Plan(mode: .none, steps: [], scores: plan.scores), decision.candidates)
        }
        return .plan(plan, .init(input: input, material: decision.material, isNew: true))
    }
}
