internal import Wire

/// One output made of those of several steps.
enum MergedOutput {
    /// How a request ends whose steps ended so: finished if any last step finished, with what the others failed of. Its
    /// output is of the steps that finished and whose output no other that finished has had: what a failed step was to
    /// work on is not lost.
    static func end(of steps: [(step: Plan.Step, outcome: RequestProgress.Outcome)]) -> Occurrence.End {
        let needed = Set(steps.flatMap(\.step.after))
        var used: Set<String> = []
        for (step, outcome) in steps { if case .finished = outcome { used.formUnion(step.after) } }
        var outputs: [(step: String, output: SkillOutput)] = []
        var errors: [StepError] = []
        var isLastFinished = false
        for (step, outcome) in steps {
            switch outcome {
            case .finished(let output):
                if !used.contains(step.id) { outputs.append((step.id, output)) }
                if !needed.contains(step.id) { isLastFinished = true }
            case .failed(let error):
                errors.append(StepError(step: step.id, skill: step.skill, error: error))
            }
        }
        if isLastFinished { return .finished(merge(outputs), errors: errors) }
        // The cause, not what followed from it.
        let cause = errors.first { $0.error.code != JobError.Code.dependencyFailed } ?? errors.first
        let unknown = JobError(code: JobError.Code.skillFailed, message: "No step of the request finished.")
        let error = cause?.error ?? unknown
        return outputs.isEmpty ? .failed(error) : .incomplete(error, merge(outputs))
    }

    /// One output is handed on as it is. The texts of several stand one below the other, in the plan's order; their
    /// parts say which step they are of.
    static func merge(_ outputs: [(step: String, output: SkillOutput)]) -> SkillOutput {
        if outputs.count == 1 { return outputs[0].output }
        var merged = SkillOutput(text: "")
        merged.text = outputs.map { trimmed($0.output.text) }.filter { !$0.isEmpty }.joined(separator: "\n\n")
        for (step, output) in outputs {
            merged.parts += output.parts.map { part in
                var part = part
                part.values = (part.values ?? [:]).merging(["step": .string(step)]) { own, _ in own }
                return part
            }
        }
        return merged
    }

    private static func trimmed(_ text: String) -> Substring {
        var text = Substring(text)
        while let last = text.last, last.isNewline { text.removeLast() }
        while let first = text.first, first.isNewline { text.removeFirst() }
        return text
    }
}
