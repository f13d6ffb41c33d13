public import Wire

/// Tells from manifests alone which skills serve a text. A value: it does no I/O, reads no clock, and may be used from
/// any thread.
///
/// A decision goes: part the text into instruction and material (``InstructionSplitter``), read the instruction's cues
/// (``Reading``), score each skill (``SkillScorer``), add what the conversation says (``FollowUp``), and build the plan
/// (``PlanBuilder``) and its arguments (``ArgumentFinder``).
public struct IntentModel: Sendable {
    /// Below this, no skill is meant.
    static let threshold = 0.38
    /// The same for a skill that only shares words with the text.
    private static let wordThreshold = 0.42
    /// A part of the text is its instruction from this score on.
    private static let instructionThreshold = 0.58
    /// The same for a few words that stand before the rest like a heading, and how much more they are worth.
    private static let headingThreshold = 0.4
    private static let headingBonus = 0.3
    /// A part with this bonus is set off from the rest by more than the end of a sentence or of a line.
    private static let setOff = 0.1
    /// How much more it is worth beside a page.
    private static let setOffBonus = 0.2
    /// A deed that nobody can do is what is meant from this weight on.
    private static let deedThreshold = 0.6
    /// A text this like a skill's own example is no work of another kind.
    private static let exampleThreshold = 0.8
    /// Up to this length, in words and Han characters, a text may be one sentence.
    private static let sentenceLength = 60
    /// How much more a sentence is worth that speaks to the reader.
    private static let addressedBonus = 0.15
    /// How many skills are named when none serves.
    private static let nearestCount = 3

    let index: ManifestIndex
    private let lexicon: Lexicon
    var scorer: SkillScorer
    private var builder: PlanBuilder
    private(set) var thresholds = RoutingThresholds()
    private let arguments: [ArgumentFinder]

    /// Makes a model of the skills. Of several manifests with one id, the newest version counts. What an earlier model has
    /// read of manifests that are still the same is taken over, so that one more skill costs what it adds.
    public init(manifests: [SkillManifest], reusing earlier: IntentModel? = nil) {
        lexicon = Lexicon.shared
        index = ManifestIndex(manifests, lexicon: lexicon, reusing: earlier?.index)
        scorer = SkillScorer(index: index, lexicon: lexicon)
        builder = PlanBuilder(index: index, lexicon: lexicon, scorer: scorer)
        arguments = index.manifests.map { [lexicon] in ArgumentFinder(schema: $0.inputSchema, lexicon: lexicon) }
    }

    /// Decides which skills serve a question, in a time that does not grow with a text beyond its reading.
    public func decide(_ question: RoutingQuestion) -> RoutingDecision {
        let parts = part(question.text, hasAttachments: !question.attachments.isEmpty)
        var result = parts.result
        if parts.isUncertain { for skill in result.totals.indices { result.totals[skill] *= 0.7 } }

        let followUp = FollowUp(question.history, index: index)
        let own = index.manifests.indices.map { result.totals[$0] }.max() ?? 0
        let length = InstructionSplitter.visualLength(Array(parts.instruction.utf8)[...])
        let lent = parts.material == nil ? followUp.score(result, length: length, own: own) : 0
        if lent > 0 {
            for skill in followUp.skills where !result.isDenied[skill] {
                result.totals[skill] = max(result.totals[skill], lent + 0.1 * result.totals[skill])
            }
        }

        result.totals = preferring(followUp.skills, result.totals)
        let hasMaterial = parts.material != nil || !question.attachments.isEmpty
        let steps = self.steps(result, followUp, lent: lent, hasMaterial: hasMaterial)
        var scores = scored(result, followUp, lent: lent, wantsReasons: question.wantsReasons)
        // What was chosen stands before what was not.
        let chosen = steps.map(\.skill)
        let ids = Set(chosen.map { index.manifests[$0].id })
        scores = scores.filter { ids.contains($0.skill) } + scores.filter { !ids.contains($0.skill) }
        let others = index.manifests.indices.filter { $0 != index.fallback }
        if question.wantsReasons, lent == 0, chosen.allSatisfy({ $0 == index.fallback }),
            let best = index.best(others, by: { result.totals[$0] }), let reason = refusal(best, result),
            let place = scores.firstIndex(where: { $0.skill == index.manifests[best].id })
        {
            scores[place].reasons.append(reason)
        }

        let plan = builder.plan(steps) { skill in
            arguments[skill].isEmpty ? [:] : arguments[skill].arguments(in: result.reading)
        }
        var decision = RoutingDecision(
            plan: plan,
            scores: scores,
            instruction: parts.instruction,
            material: material(parts, chosen, result, followUp, question),
            nearest: steps.isEmpty ? Array(scores.prefix(Self.nearestCount).map(\.skill)) : [],
            candidates: lent > 0 ? [] : candidates(chosen, after: followUp.skills, result)
        )
        if question.wantsArguments {
            for skill in index.manifests.indices where !arguments[skill].isEmpty {
                decision.arguments[index.manifests[skill].id] = arguments[skill].arguments(in: result.reading)
            }
        }
        return decision
    }

    /// The same model with something learned, or with other thresholds.
    func with(_ learned: LearnedSkills?, _ thresholds: RoutingThresholds) -> IntentModel {
        var model = self
        model.scorer.learned = learned
        model.builder = PlanBuilder(index: index, lexicon: lexicon, scorer: model.scorer)
        model.thresholds = thresholds
        return model
    }

    // MARK: Instruction and material

    private struct Parts {
        let instruction: String
        let material: String?
        let quoted: String?
        let result: SkillScorer.Result
        /// A long text in which no instruction was found: any word of it may be anything.
        let isUncertain: Bool
    }

    private func read(_ text: String, quotationsVote: Bool = false) -> (SkillScorer.Result, quoted: String?) {
        let masked = quotationsVote || !scorer.cuesDecide ? nil : Quotation.masked(text)
        let original = Units(masked?.outside ?? text)
        var units = original
        if scorer.cuesDecide { units.correct(by: index.slips) }
        let result = scorer.score(Reading(units, lexicon: lexicon, forgiving: true), original: original)
        return (result, masked.flatMap { $0.longest.isEmpty ? nil : $0.longest })
    }

    private func part(_ text: String, hasAttachments: Bool) -> Parts {
        let splitter = InstructionSplitter(text)
        let length = splitter.visualLength
        var best: (value: Double, parts: Parts)?
        // Skills that the lexicon does not know are told apart by all words of a sentence.
        let mayBeWhole = !scorer.cuesDecide && length <= Self.sentenceLength
        if !mayBeWhole, !hasAttachments || length > InstructionSplitter.sentenceCutLength {
            for candidate in splitter.candidates() {
                let (result, quoted) = read(candidate.instruction)
                // Beside a page behind a colon or in quotation marks, what stands outside is what is asked for.
                let isSetOff = candidate.bonus >= Self.setOff && splitter.isLong(candidate.material)
                var value = instructionValue(result, questionsCount: isSetOff)
                if isSetOff, value >= Self.headingThreshold {
                    value = max(value, Self.instructionThreshold) + Self.setOffBonus
                }
                // "Summarise: ..." above a page: what the page says on its last line is no instruction beside that.
                if candidate.isHeading, value >= Self.headingThreshold {
                    value = max(value, Self.instructionThreshold) + Self.headingBonus
                }
                guard value >= Self.instructionThreshold else { continue }
                // Of sentences, one that speaks to the reader is asked; another one may only say how things are.
                if candidate.isSentence, isAddressed(candidate.instruction, result) { value += Self.addressedBonus }
                guard value + candidate.bonus > best?.value ?? 0 else { continue }
                if candidate.bonus < 0.1, alsoAsks(splitter, candidate.material, beside: result) { continue }
                best = (
                    value + candidate.bonus,
                    Parts(
                        instruction: candidate.instruction,
                        material: hasAttachments ? nil : splitter.material(candidate.material),
                        quoted: quoted,
                        result: result,
                        isUncertain: false
                    )
                )
            }
        }
        if let best { return best.parts }
        let whole = splitter.whole
        let (result, quoted) = read(whole)
        return Parts(
            instruction: whole,
            material: nil,
            quoted: hasAttachments ? nil : quoted,
            result: result,
            isUncertain: length > 80
        )
    }

    /// How surely a part of a text is an instruction. Questions and talk do not count: material is full of them.
    private func instructionValue(_ result: SkillScorer.Result, questionsCount: Bool = false) -> Double {
        var value = 0.0
        for mention in result.mentions {
            let group = lexicon.groups[mention.group]
            // What nobody here does is asked for of nobody: "book a table" in a page about an inn.
            if group.kind == .deed, index.owners[mention.group].isEmpty, !questionsCount { continue }
            if group.role != .talk, group.role != .source || questionsCount { value = max(value, mention.weight) }
        }
        // Skills of a kind that the lexicon does not know are found by their own words.
        for skill in result.totals.indices where skill != index.fallback {
            let isItsOwn = index.roles[skill] == nil || result.comparison.similarity[skill] >= Self.exampleThreshold
            if isItsOwn { value = max(value, 0.95 * result.totals[skill]) }
        }
        return value + (value > 0 && result.reading.grammar.contains(.deictic) ? 0.08 : 0)
    }

    /// Whether a sentence is said to somebody: it asks, begins with what is to be done, or says please.
    private func isAddressed(_ text: String, _ result: SkillScorer.Result) -> Bool {
        let grammar = result.reading.grammar
        if !grammar.isDisjoint(with: [.deictic, .filler]) || text.hasSuffix("?") || text.hasSuffix("？") { return true }
        return result.mentions.contains { $0.range.lowerBound == 0 }
    }

    /// Whether a short rest of a text asks for something else, and so is no material.
    private func alsoAsks(
        _ splitter: InstructionSplitter,
        _ rest: Range<Int>,
        beside result: SkillScorer.Result
    ) -> Bool {
        let bytes = splitter.bytes[rest]
        guard InstructionSplitter.visualLength(bytes, limit: 20) < 20 else { return false }
        let other = read(splitter.text(rest)).0
        return instructionValue(other, questionsCount: true) >= Self.instructionThreshold
    }

    private func material(
        _ parts: Parts,
        _ chosen: [Int],
        _ result: SkillScorer.Result,
        _ followUp: FollowUp,
        _ question: RoutingQuestion
    ) -> String? {
        if let material = parts.material { return material }
        guard question.attachments.isEmpty else { return nil }
        let roles = chosen.map { index.roles[$0] }
        guard roles.contains(where: { $0 == .transform || $0 == .extract || $0 == .annotate || $0 == nil }),
            !roles.contains(.source), chosen != [index.fallback]
        else { return nil }
        if let quoted = parts.quoted { return quoted }
        let namesLast = result.mentions.contains { mention in
            followUp.skills.contains { skill in
                !chosen.contains(skill)
                    && index.owners[mention.group].contains { $0.skill == skill && $0.strength >= 0.5 }
            }
        }
        return followUp.material(
            for: chosen,
            asksForResult: namesLast || result.reading.grammar.contains(.result),
            split: { part($0, hasAttachments: false).material }
        )
    }

    // MARK: Choice

    private func steps(
        _ result: SkillScorer.Result,
        _ followUp: FollowUp,
        lent: Double,
        hasMaterial: Bool
    ) -> [PlanBuilder.Step] {
        let skills = index.manifests.indices
        let best = index.best(skills.filter { $0 != index.fallback }) { result.totals[$0] }
        let bestScore = best.map { result.totals[$0] } ?? 0
        let fallbackScore = index.fallback.map { result.totals[$0] } ?? 0
        if !scorer.cuesDecide { return learnedSteps(result, best, bestScore, fallbackScore) }
        if asksForMissingDeed(result, beside: max(bestScore, fallbackScore)) { return [] }

        let wishes = builder.wishes(result)
        if !hasMaterial, let composite = builder.composite(result, wishes: wishes) { return composite }
        if let several = builder.steps(of: wishes, result, hasMaterial: hasMaterial) { return several }

        let bestCue = best.map { result.cues[$0] } ?? 0
        let isForeign = lent == 0 && asksForMissingTopic(result, beside: best)
        if let fallback = index.fallback, fallbackScore > bestScore, fallbackScore >= least(fallback, Self.threshold) {
            return [PlanBuilder.Step(skill: fallback, after: [])]
        }
        let threshold = bestCue >= 0.2 || lent > 0 ? Self.threshold : Self.wordThreshold
        if let best, bestScore >= least(best, threshold), !isForeign {
            // A follow-up without a wish of its own goes where the last turn went, to all of it.
            if lent > 0, followUp.skills.count > 1, followUp.skills.contains(best), result.cues[best] < 0.5 {
                return followUp.skills.map { PlanBuilder.Step(skill: $0, after: []) }
            }
            return [PlanBuilder.Step(skill: best, after: [])]
        }
        return index.fallback.map { [PlanBuilder.Step(skill: $0, after: [])] } ?? []
    }

    /// Whether something is to be done that no skill here does.
    private func asksForMissingDeed(_ result: SkillScorer.Result, beside score: Double) -> Bool {
        guard result.missingDeed >= Self.deedThreshold, result.missingDeed >= score else { return false }
        // What the lexicon does not know of a skill, its examples may say.
        return !index.manifests.indices.contains { skill in
            index.roles[skill] == nil && skill != index.fallback
                && result.likeness?.values[skill] ?? 0 >= PlanBuilder.wishLikeness
        }
    }

    /// Whether it is about text work that no skill here does: what else was found is beside the point.
    private func asksForMissingTopic(_ result: SkillScorer.Result, beside best: Int?) -> Bool {
        let cue = best.map { result.cues[$0] } ?? 0
        let isExample = best.map { result.comparison.similarity[$0] >= Self.exampleThreshold } ?? false
        return result.missingTopic >= CueWeights.strong && cue < result.missingTopic - 0.1 && !isExample
    }

    /// Why the best skill was not chosen although its score is high enough, for people; nil where it is not.
    private func refusal(_ skill: Int, _ result: SkillScorer.Result) -> String? {
        guard result.totals[skill] >= least(skill, Self.threshold) else { return nil }
        if scorer.cuesDecide, asksForMissingDeed(result, beside: 0) || asksForMissingTopic(result, beside: skill) {
            return "not chosen: the text asks for something that no skill here does"
        }
        return result.totals[skill] < least(skill, Self.wordThreshold)
            ? "not chosen: without a word that it is known by, a score of \(Self.wordThreshold) is needed" : nil
    }

    /// Steps where what was learned decides: the parts of the text that ask for different skills, at the same time.
    private func learnedSteps(
        _ result: SkillScorer.Result,
        _ best: Int?,
        _ bestScore: Double,
        _ fallbackScore: Double
    ) -> [PlanBuilder.Step] {
        let parts = builder.learnedParts(result) { least($0, Self.threshold) }
        if parts.count > 1 { return parts.map { PlanBuilder.Step(skill: $0, after: []) } }
        if let best, bestScore >= least(best, Self.threshold), bestScore >= fallbackScore {
            return [PlanBuilder.Step(skill: best, after: [])]
        }
        return index.fallback.map { [PlanBuilder.Step(skill: $0, after: [])] } ?? []
    }

    /// From which score on a skill is meant.
    func least(_ skill: Int, _ usual: Double) -> Double {
        thresholds.skills[index.manifests[skill].id] ?? thresholds.least ?? usual
    }

    private func scored(
        _ result: SkillScorer.Result,
        _ followUp: FollowUp,
        lent: Double,
        wantsReasons: Bool
    ) -> [Plan.Score] {
        let manifests = index.manifests
        func precedes(_ left: Int, _ right: Int) -> Bool {
            if result.totals[left] != result.totals[right] { return result.totals[left] > result.totals[right] }
            if manifests[left].priority != manifests[right].priority {
                return manifests[left].priority > manifests[right].priority
            }
            // Manifests are in the order of their ids.
            return left < right
        }
        var sorted: [Int] = []
        if wantsReasons {
            sorted = manifests.indices.sorted(by: precedes)
        } else {
            // Without reasons nobody looks at the tail.
            for skill in manifests.indices {
                if sorted.count == Self.nearestCount {
                    guard precedes(skill, sorted[Self.nearestCount - 1]) else { continue }
                    sorted.removeLast()
                }
                sorted.insert(skill, at: sorted.firstIndex { precedes(skill, $0) } ?? sorted.count)
            }
        }
        return sorted.map { skill in
            var reasons = wantsReasons && result.totals[skill] > 0.02 ? scorer.reasons(skill, result) : []
            if wantsReasons, lent > 0, followUp.skills.contains(skill) { reasons.append("served the last turn") }
            return Plan.Score(
                skill: manifests[skill].id,
                score: (result.totals[skill] * 1000).rounded() / 1000,
                reasons: reasons
            )
        }
    }
}
