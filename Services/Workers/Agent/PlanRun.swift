internal import ModelAccess
internal import SkillKit
internal import Wire

/// Without a model, or instead of one that failed: the plan that the router would make of the text, run by calls of its skills.
struct PlanRun: Sendable {
    let input: SkillInput
    let toolbox: Toolbox
    let words: Words
    /// Whether there is a model, which could not do it then.
    let hasModel: Bool
    /// How it failed; nil where it was not asked.
    let failure: SkillError?
    let context: SkillContext

    /// Runs it.
    /// - Throws: `SkillError` where there is no plan, or no last step finished: the model's failure where one was asked;
    ///   `CancellationError`.
    func run() async throws -> SkillOutput {
        context.engine(ModelAccess.offline)
        let plan = try await plan()
        let names = plan.steps.map(\.skill)
        context.progress(hasModel ? words.plan(names) : words.planWithoutModel(names))
        var outputs: [String: SkillOutput] = [:]
        var failures: [(step: Plan.Step, error: SkillError)] = []
        var open = plan.steps
        while !open.isEmpty {
            // Steps come after those that they need, so each turn has at least one that can go on.
            let failed = Set(failures.map(\.step.id))
            let ready = open.filter { step in step.after.allSatisfy { outputs[$0] != nil || failed.contains($0) } }
            guard !ready.isEmpty else { break }
            open.removeAll { ready.contains($0) }
            let lost = ready.filter { $0.after.contains(where: failed.contains) }
            for step in lost {
                let message = words.skipped(step.skill)
                context.progress(message)
                failures.append((step, SkillError(JobError.Code.dependencyFailed, message)))
            }
            for (step, result) in try await run(ready.filter { !lost.contains($0) }, plan, outputs) {
                switch result {
                case .success(let output):
                    outputs[step.id] = output
                    context.progress(words.finished(step.skill, bytes: output.text.utf8.count))
                case .failure(let error):
                    failures.append((step, error))
                    context.progress(words.failed(step.skill, error.message))
                }
            }
        }
        return try output(plan, outputs, failures)
    }

    /// The router's plan, without the agent itself.
    private func plan() async throws -> Plan {
        let found = try await context.route(input.text, history: input.history, attachments: input.attachments)
        let usable = found.steps.allSatisfy { toolbox.skills[$0.skill] != nil }
        if !found.steps.isEmpty, usable, (try? found.validate()) != nil { return found }
        let scored = (found.scores ?? []).filter { toolbox.skills[$0.skill] != nil }
        // The one that is meant next after the agent; what nothing in the text speaks for is none.
        if found.mode != .none, let next = scored.first, next.score >= Self.leastScore { return .single(next.skill) }
        if var failure {
            failure.message = words.noPlanEither(failure.message)
            throw failure
        }
        let nearest = scored.prefix(3).map(\.skill).joined(separator: ", ")
        let noPlan = words.noPlan(nearest.isEmpty ? "skillbus skills" : nearest, hasModel: hasModel)
        throw SkillError(JobError.Code.outOfScope, noPlan.message, hint: noPlan.hint)
    }

    private static let leastScore = 0.05

    private func run(
        _ steps: [Plan.Step],
        _ plan: Plan,
        _ outputs: [String: SkillOutput]
    ) async throws -> [(Plan.Step, CallGroup.Outcome)] {
        let skills = Dictionary(plan.steps.map { ($0.id, $0.skill) }) { first, _ in first }
        // What came with the text goes to every step, as it does where the router runs the plan. Outputs that the agent was to
        // work on are what its first steps work on.
        return try await CallGroup.outcomes(
            of: steps.map { step -> (key: Plan.Step, call: CallGroup.Call) in
                let arguments = (try? JSONBody.encode(step.arguments)).map { String(decoding: $0, as: UTF8.self) }
                context.progress(words.calls(step.skill))
                context.thinking(words.calls(step.skill, arguments ?? "{}"))
                let made = step.after.compactMap { needed in
                    outputs[needed].map { JobInput.Previous(step: needed, skill: skills[needed] ?? "", output: $0) }
                }
                return (
                    step,
                    { [input, context] () async throws(SkillError) in
                        try await context.call(
                            step.skill,
                            text: input.text,
                            material: input.separatedMaterial,
                            arguments: step.arguments,
                            attachments: input.attachments,
                            history: input.history,
                            summary: input.summary,
                            previous: step.after.isEmpty ? input.previous : made
                        )
                    }
                )
            }
        )
    }

    /// What the steps made that no other has used.
    private func output(
        _ plan: Plan,
        _ outputs: [String: SkillOutput],
        _ failures: [(step: Plan.Step, error: SkillError)]
    ) throws -> SkillOutput {
        let used = Set(plan.steps.filter { outputs[$0.id] != nil }.flatMap(\.after))
        let last = plan.steps.filter { !used.contains($0.id) }.compactMap { outputs[$0.id] }
        if last.isEmpty {
            let cause = failures.first { $0.error.code != JobError.Code.dependencyFailed }
            guard var failure else { throw cause?.error ?? SkillError(JobError.Code.skillFailed, words.noSkills) }
            // What the user has to see to is the model; often the step has failed for the same.
            if let cause { failure.message = words.planFailed(failure.message, cause.step.skill, cause.error.message) }
            throw failure
        }
        var merged = SkillOutput(text: last.map(\.text).joined(separator: "\n\n"), parts: last.flatMap(\.parts))
        let notes = failures.map { words.failed($0.step.skill, $0.error.message) }
        if !notes.isEmpty { merged.text += "\n\n(\(notes.joined(separator: "; ")))" }
        return merged
    }
}
