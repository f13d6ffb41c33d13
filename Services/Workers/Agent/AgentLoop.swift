internal import LLM
internal import ModelAccess
internal import SkillKit
internal import Wire

/// One run with a model: it calls skills, reads what they find, and calls again or answers.
///
///     ask the model --answer--> finished
///       ^   \--calls--> run them at the same time --results--+
///       +----------------------------------------------------+
///
/// Bounded in rounds, tokens and time. When one of these is nearly used up the model is asked once more, without tools, for an
/// answer from what there is. Where the model fails, the router's plan is left; some of the time is kept for that.
struct AgentLoop: Sendable {
    let input: SkillInput
    let toolbox: Toolbox
    let limits: AgentLimits
    let words: Words
    let context: SkillContext

    /// How a run ended.
    enum End {
        case answered(SkillOutput)
        /// There is no model that may be asked; or the one that was asked failed, which is then said here for where the
        /// router has no plan either.
        case unanswered(SkillError?)
    }

    /// Where a run stands.
    private struct State {
        var messages: [ChatMessage]
        /// Bytes that the model has not been sent yet.
        var unsent: Int
        var streamed = ""
        /// Finished calls, by their numbers.
        var results: [Int: SkillOutput] = [:]
        /// Numbers of the calls that were made, by what was called.
        var made: [String: Int] = [:]
        var calls = 0
        var misfits = 0
        /// A skill that may have done its work, or called another that has, and must not do it twice.
        var unrepeatable: String?

        /// Keeps a result whole as long as there is room for it: it may be handed on.
        mutating func keep(_ output: SkillOutput, of number: Int, seen: String) {
            let kept = results.values.reduce(0) { $0 + $1.text.utf8.count }
            let fits = kept + output.text.utf8.count <= AgentLoop.keptBytes
            results[number] = fits ? output : SkillOutput(text: seen)
        }
    }

    /// Bytes of results that a run keeps.
    private static let keptBytes = 32 << 20

    /// Tokens that are kept for the last answer.
    private static let reserve = 2000

    /// Time that is kept for the router's plan while the model is asked; a quarter of what is left where that is less.
    private static let keptTime = Duration.seconds(20)

    /// Runs it.
    /// - Throws: `SkillError` where nothing may be run instead of what the model failed to do; `CancellationError`.
    func run(with access: ModelAccess) async throws -> End {
        let prompt = AgentPrompt(input)
        var state = State(messages: prompt.messages, unsent: prompt.bytes)
        let budget = TokenBudget(limits.tokens)
        let began = ContinuousClock.now
        for round in 1... {
            guard
                let model = try await access.model(for: context, sending: state.unsent, isChinese: words.isChinese)
            else { return .unanswered(nil) }
            state.unsent = 0
            let last = lastWords(round, state, budget, began)
            if let last {
                context.progress(last)
                state.messages.append(ChatMessage(.user, AgentPrompt.answerNow))
            }
            let answer: ChatAnswer
            do throws(LLMError) {
                answer = try await ask(model, &state, budget, mayCall: last == nil)
                if last != nil || answer.toolCalls.isEmpty { return .answered(try finish(answer, state)) }
            } catch {
                return .unanswered(try failure(error, model, state))
            }
            state.messages.append(.calls(answer))
            try await call(answer.toolCalls, &state)
        }
        return .unanswered(nil)
    }

    /// Why this round is the last one; nil if it is not.
    private func lastWords(
        _ round: Int,
        _ state: State,
        _ budget: TokenBudget,
        _ began: ContinuousClock.Instant
    ) -> String? {
        if toolbox.tools.isEmpty { return words.noSkills }
        if round > limits.rounds { return words.roundsOver(limits.rounds) }
        if state.misfits > limits.misfits { return words.misfitsOver }
        guard round > 1 else { return nil }
        if budget.remaining < min(Self.reserve * 2, limits.tokens / 4) { return words.tokensNearlyOver }
        let left = context.deadline - .now
        if left < min(.seconds(20), (context.deadline - began) / 4) { return words.timeNearlyOver }
        return nil
    }

    /// Asks the model once. What it says beside calls is a thought; what it says at length is the answer.
    private func ask(
        _ model: SkillModel,
        _ state: inout State,
        _ budget: TokenBudget,
        mayCall: Bool
    ) async throws(LLMError) -> ChatAnswer {
        var request = model.request(state.messages)
        request.tools = toolbox.tools
        request.toolChoice = toolbox.tools.isEmpty ? nil : mayCall ? .auto : ToolChoice.none
        request.maxTokens = limits.answer
        request.budget = budget
        request.deadline = context.deadline - min(Self.keptTime, (context.deadline - .now) / 4)
        // Another try voids what was streamed, also by rounds before.
        request.isTriedAgain = state.streamed.isEmpty
        // What came before it in the output, if anything.
        let gap = state.streamed.isEmpty ? "" : "\n\n"
        var held: String? = mayCall ? "" : nil
        if !mayCall { say(gap, &state) }
        let answer = try await model.stream(request) { piece in
            guard let text = held else {
                say(piece, &state)
                return true
            }
            held = text + piece
            if (text + piece).utf8.count > Self.holds {
                say(gap + text + piece, &state)
                held = nil
            }
            return true
        }
        guard let answer else { throw LLMError(.cancelled, "cancelled") }
        if let held, !held.isEmpty {
            if answer.toolCalls.isEmpty { say(gap + held, &state) } else { context.thinking(held) }
        }
        return answer
    }

    /// Bytes that are held back until it is clear whether calls follow them.
    private static let holds = 240

    private func say(_ text: String, _ state: inout State) {
        state.streamed += text
        context.text(text)
    }

    /// The model has failed: the events say so, and that the router's plan is run instead.
    /// - Returns: The failure in words, for where there is no plan either.
    /// - Throws: `SkillError` where the plan must not be run: the tokens that the user allows are spent, or what was called
    ///   must not be done twice. `CancellationError`.
    private func failure(_ error: LLMError, _ model: SkillModel, _ state: State) throws -> SkillError {
        if error.kind == .budget {
            let words = words.tokensOver(limits.tokens, calls: state.calls)
            throw SkillError("model_budget", words.message, hint: words.hint)
        }
        guard var failure = model.words(for: error) as? SkillError else { throw CancellationError() }
        failure.message = words.after(state.results.count, failure.message)
        if let skill = state.unrepeatable {
            let words = words.notRunInstead(skill, failure.message)
            throw SkillError(failure.code, words.message, hint: words.hint)
        }
        try model.fallBack(after: error)
        if !state.streamed.isEmpty { context.retrying(words.startsAnew) }
        return failure
    }

    private func finish(_ answer: ChatAnswer, _ state: State) throws(LLMError) -> SkillOutput {
        var text = state.streamed
        if text.allSatisfy(\.isWhitespace), !answer.refusal.isEmpty {
            context.text(answer.refusal)
            text += answer.refusal
        }
        guard !text.allSatisfy(\.isWhitespace) else { throw LLMError(useless: answer, words.noAnswer) }
        if answer.isCutByLength {
            context.text(words.cut)
            text += words.cut
        }
        // Where it comes from stays with it.
        let parts = state.results.sorted { $0.key < $1.key }.flatMap(\.value.parts).filter { $0.source != nil }
        return SkillOutput(text: text, parts: parts)
    }

    // MARK: Calls

    /// Makes the calls of one answer at the same time and notes their results in the order of the calls.
    private func call(_ calls: [ToolCall], _ state: inout State) async throws {
        var texts = [String](repeating: "", count: calls.count)
        var numbers: [Int: (place: Int, call: Toolbox.Call)] = [:]
        for (place, call) in calls.enumerated() {
            guard place < limits.callsAtOnce else {
                texts[place] = "Not run: at most \(limits.callsAtOnce) calls are made at once. Call it again if needed."
                continue
            }
            do throws(Toolbox.Misfit) {
                let read = try toolbox.read(call)
                let key = Self.key(read)
                if let before = state.made[key] {
                    context.progress(words.repeated(read.skill))
                    texts[place] =
                        "This was called before with the same text and arguments, as call \(before); see its result."
                    continue
                }
                state.calls += 1
                state.made[key] = state.calls
                numbers[state.calls] = (place, read)
                context.progress(words.calls(read.skill))
                context.thinking(words.calls(read.skill, Observation.bounded(call.arguments, to: 400)))
            } catch {
                state.misfits += 1
                context.progress(words.misfit(String(call.name.prefix(64)), error.reason))
                texts[place] = "Not run. \(error.reason)"
            }
        }
        let known = state.results.mapValues(\.text)
        let material = input.material
        let attachments = input.attachments
        let made = numbers.map { number, entry -> (key: Int, call: CallGroup.Call) in
            let call = entry.call
            return (
                number,
                { [context] () async throws(SkillError) in
                    let text = Observation.filled(call.text, input: material, results: known)
                    return try await context.call(
                        call.skill,
                        text: text,
                        arguments: call.arguments,
                        attachments: attachments.filter { call.files.contains($0.name) }
                    )
                }
            )
        }
        for (number, result) in try await CallGroup.outcomes(of: made) {
            guard let (place, call) = numbers[number] else { continue }
            switch result {
            case .success(let output):
                context.progress(words.finished(call.skill, bytes: output.text.utf8.count))
                let text = Observation.bounded(Observation.text(of: output), to: limits.observation)
                state.keep(output, of: number, seen: text)
                texts[place] = "Result of call \(number):\n\(text)"
            case .failure(let error):
                context.progress(words.failed(call.skill, error.message))
                if error.code == JobError.Code.invalidArguments { state.misfits += 1 }
                if error.code == JobError.Code.outcomeUnknown { state.unrepeatable = call.skill }
                let hint = error.hint.map { " (\($0))" } ?? ""
                texts[place] = "Call \(number) failed: \(error.code): \(error.message)\(hint)"
            }
        }
        for (call, text) in zip(calls, texts) {
            state.messages.append(.result(text, of: call.id))
            state.unsent += text.utf8.count
        }
    }

    private static func key(_ call: Toolbox.Call) -> String {
        let arguments = (try? JSONBody.encode(call.arguments)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return "\(call.skill)\u{0}\(arguments)\u{0}\(call.files.sorted())\u{0}\(call.text)"
    }
}
