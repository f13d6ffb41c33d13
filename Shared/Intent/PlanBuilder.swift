internal import Wire

/// Turns the cues of an instruction into steps: one, several at the same time, or one after another.
struct PlanBuilder {
    /// A clause asks for a skill from this score of its cues on.
    private static let wishThreshold = 0.5
    /// A wish for a plan (research, a survey) counts from here on; with less, another cue must support it.
    private static let planThreshold = 0.7

    let index: ManifestIndex
    let lexicon: Lexicon
    let scorer: SkillScorer

    /// A skill that a clause asks for.
    struct Wish {
        let skill: Int
        /// The group of the cue that asks for it; nil where examples do.
        let group: Int?
        var boundary: Reading.Boundary
        let clause: Int
        let score: Double
    }

    /// A step: a skill and the positions of the steps that it comes after.
    struct Step {
        let skill: Int
        var after: [Int]
    }

    // MARK: Wishes

    /// What each clause asks for, in order; each skill once.
    func wishes(_ result: SkillScorer.Result) -> [Wish] {
        let reading = result.reading
        var wishes: [Wish] = []
        var boundary: Reading.Boundary = []
        // Mentions are in the order of their clauses.
        var rest = result.mentions[...]
        for (number, clause) in reading.clauses.enumerated() {
            boundary.formUnion(clause.boundary)
            let mentions = rest.prefix { $0.clause == number }
            rest = rest.dropFirst(mentions.count)
            guard let found = wish(mentions, result) ?? learnedWish(clause, result) else { continue }
            if !wishes.contains(where: { $0.skill == found.skill }) {
                wishes.append(
                    Wish(
                        skill: found.skill,
                        group: found.group,
                        boundary: boundary,
                        clause: number,
                        score: found.score
                    )
                )
            }
            boundary = []
        }
        return wishes
    }

    /// What a clause asks for, by a cue of a group or by examples.
    typealias Found = (skill: Int, group: Int?, score: Double)

    /// What the cues of a clause ask for.
    private func wish(_ mentions: ArraySlice<Reading.Mention>, _ result: SkillScorer.Result) -> Found? {
        guard !mentions.isEmpty else { return nil }
        let scores = scorer.cueScores(mentions, result.reading)
        guard let best = index.best(scores.indices.filter { $0 != index.fallback }, by: { scores[$0] }),
            scores[best] >= Self.wishThreshold, !result.isDenied[best]
        else { return nil }
        let group = mentions.max { share(best, $0) < share(best, $1) }?.group
        return (best, group, scores[best])
    }

    private func share(_ skill: Int, _ mention: Reading.Mention) -> Double {
        mention.weight * Double(index.owners[mention.group].first { $0.skill == skill }?.strength ?? 0)
    }

    // MARK: Steps

    /// The steps of a wish that by its nature takes several skills, if at least two of them are there.
    func composite(_ result: SkillScorer.Result, wishes: [Wish]) -> [Step]? {
        let asked = result.mentions.filter {
            lexicon.groups[$0.group].kind == .plan && index.owners[$0.group].isEmpty && $0.weight >= 0.5
        }
        guard let mention = asked.max(by: { $0.weight < $1.weight }) else { return nil }
        let groups = lexicon.groups[mention.group].steps
        let isSupported = wishes.contains { wish in
            groups.dropFirst().contains { group in index.owners[group].contains { $0.skill == wish.skill } }
        }
        guard mention.weight >= Self.planThreshold || isSupported else { return nil }
        var skills: [Int] = []
        for group in groups {
            let owner = index.best(index.owners[group].map(\.skill)) { skill in
                Double(index.owners[group].first { $0.skill == skill }?.strength ?? 0)
            }
            guard let owner, owner != index.fallback, !result.isDenied[owner], !skills.contains(owner),
                index.owners[group].contains(where: { $0.skill == owner && $0.strength >= 0.5 })
            else { continue }
            skills.append(owner)
        }
        // What is asked for beside it comes last.
        for wish in wishes where !skills.contains(wish.skill) && wish.score >= 0.7 { skills.append(wish.skill) }
        guard skills.count >= 2 else { return nil }
        return skills.enumerated().map { number, skill in Step(skill: skill, after: number > 0 ? [number - 1] : []) }
    }

    /// Several wishes as steps; nil if there are not two.
    func steps(of given: [Wish], _ result: SkillScorer.Result, hasMaterial: Bool) -> [Step]? {
        var wishes = given
        // A question beside work on a text is asked for itself only when it is a plain one.
        let hasWork = wishes.contains { index.roles[$0.skill] != .source }
        if hasWork {
            wishes.removeAll { wish in
                index.roles[wish.skill] == .source
                    && (hasMaterial && wish.score < 0.75 || wish.score < 0.55 && result.totals[wish.skill] < 0.6)
            }
        }
        guard wishes.count >= 2 else { return nil }
        if let source = missingSource(for: wishes, result, hasMaterial: hasMaterial) { wishes.insert(source, at: 0) }
        let skills = wishes.map(\.skill)
        // Finding comes before working on what was found, whichever is said first.
        let order =
            wishes.indices.filter { index.roles[skills[$0]] == .source }
            + wishes.indices.filter { index.roles[skills[$0]] != .source }
        var steps: [Step] = []
        for (position, number) in order.enumerated() {
            let earlier = Array(order[..<position])
            let needed = self.needed(by: wishes[number], number, wishes, earlier, result)
            steps.append(Step(skill: skills[number], after: needed.compactMap { order.firstIndex(of: $0) }.sorted()))
        }
        return steps
    }

    /// A digest with references of no text at hand needs something found first, if something is asked at all.
    private func missingSource(for wishes: [Wish], _ result: SkillScorer.Result, hasMaterial: Bool) -> Wish? {
        let roles = wishes.map { index.roles[$0.skill] }
        guard !hasMaterial, roles.contains(.annotate), roles.contains(.transform), !roles.contains(.source),
            !result.reading.grammar.contains(.deictic)
        else { return nil }
        let asked = result.mentions.filter { lexicon.groups[$0.group].role == .source && $0.weight >= 0.35 }
        guard let mention = asked.max(by: { $0.weight < $1.weight }) else { return nil }
        let owners = index.owners[mention.group]
        let skill = index.best(owners.map(\.skill)) { skill in
            Double(owners.first { $0.skill == skill }?.strength ?? 0)
        }
        guard let skill, index.roles[skill] == .source, !result.isDenied[skill] else { return nil }
        return Wish(skill: skill, group: mention.group, boundary: [], clause: mention.clause, score: mention.weight)
    }

    /// The earlier wishes whose output a wish needs.
    private func needed(
        by wish: Wish,
        _ number: Int,
        _ wishes: [Wish],
        _ earlier: [Int],
        _ result: SkillScorer.Result
    ) -> Set<Int> {
        var needed: Set<Int> = []
        let role = index.roles[wish.skill]
        let sources = earlier.filter { index.roles[wishes[$0].skill] == .source }
        for other in earlier where flows(from: wishes[other].skill, to: wish.skill) { needed.insert(other) }
        // Works on what the clause before made, as said: "translate the summary", 然后翻译.
        if number > 0, earlier.contains(number - 1) {
            let before = wishes[number - 1]
            let isOrdered = wish.boundary.contains(.sequence)
            let isTransformed = index.roles[before.skill] == .transform && role == .transform
            let namesIt = result.mentions.contains { $0.clause == wish.clause && $0.group == before.group }
            // "A short version, in French": only a language is named for what was asked for before.
            let namesLanguage =
                before.clause + 1 == wish.clause && !wish.boundary.contains(.and)
                && result.mentions.filter { $0.clause == wish.clause }.allSatisfy { $0.shape == .language }
            if isOrdered || namesIt || isTransformed && (wish.boundary.contains(.again) || namesLanguage) {
                needed.insert(number - 1)
            }
        }
        // A sum beside a question is another question.
        guard !sources.isEmpty, role != .source, role != .compute else { return needed }
        if role != .extract, let last = earlier.last(where: { index.roles[wishes[$0].skill] != .extract }) {
            needed.insert(last)
        } else if needed.isEmpty {
            needed.formUnion(sources)
        }
        return needed
    }

    /// Whether a skill makes a kind of data, other than plain text, that another takes.
    private func flows(from maker: Int, to taker: Int) -> Bool {
        let made = index.manifests[maker].produces
        return index.manifests[taker].consumes.contains { $0 != "text" && made.contains($0) }
    }

    // MARK: Plans

    /// A plan of the steps, without arguments.
    func plan(_ steps: [Step], arguments: (Int) -> JSONValue) -> Plan {
        let steps = steps.prefix(Limits.planDepth)
        let mode: Plan.Mode =
            steps.isEmpty
            ? .none : steps.count == 1 ? .single : steps.contains { !$0.after.isEmpty } ? .chain : .parallel
        return Plan(
            mode: mode,
            steps: steps.enumerated().map { number, step in
                Plan.Step(
                    number: UInt16(number + 1),
                    skill: index.manifests[step.skill].id,
                    after: step.after.map { "s\($0 + 1)" },
                    arguments: arguments(step.skill)
                )
            }
        )
    }
}

extension ManifestIndex {
    /// Scores this near are a tie, which priority breaks, and then the id.
    private static let tie = 0.02

    /// The best of some skills; the order of registration plays no part.
    func best(_ skills: some Sequence<Int>, by score: (Int) -> Double) -> Int? {
        let scored = skills.map { (skill: $0, score: score($0)) }
        guard let most = scored.map(\.score).max() else { return nil }
        return scored.filter { $0.score >= most - Self.tie }
            .max { left, right in
                let a = manifests[left.skill]
                let b = manifests[right.skill]
                if a.priority != b.priority { return a.priority < b.priority }
                if left.score != right.score { return left.score < right.score }
                return a.id > b.id
            }?
            .skill
    }
}
