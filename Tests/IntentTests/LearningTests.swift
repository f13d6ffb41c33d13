import Testing
import Wire

@testable import Intent

@Suite("Learning from examples")
struct LearningTests {
    /// Skills of kinds that the lexicon has no words for.
    private static let strange = [
        (
            "greenhouse",
            ["water the tomatoes", "is the soil of the basil dry", "open the roof vents", "how moist are the beds"]
        ),
        (
            "kennel",
            ["feed the spaniel", "has the puppy been walked", "brush the old collie", "who walked the dogs today"]
        ),
        (
            "observatory",
            ["point the telescope at saturn", "is the dome closed", "calibrate the mirror", "track the comet"]
        ),
    ].map { id, examples in SkillManifest(id: id, description: "The \(id).", examples: examples) }

    private func best(_ model: IntentModel, _ text: String) -> String? {
        model.decide(RoutingQuestion(text: text)).plan.steps.first?.skill
    }

    @Test("Tells skills apart by what their examples have in common")
    func examples() {
        let model = IntentModel(manifests: Self.strange).trained()
        #expect(best(model, "are the tomatoes dry") == "greenhouse")
        #expect(best(model, "walk the collie and feed it") == "kennel")
        #expect(best(model, "turn the telescope to the comet") == "observatory")
    }

    @Test("Refuses what is like no example, and names the nearest")
    func outOfScope() {
        let model = IntentModel(manifests: Self.strange).trained()
        let decision = model.decide(RoutingQuestion(text: "renegotiate quarterly mortgage paperwork"))
        #expect(decision.plan.mode == .none)
        #expect(!decision.nearest.isEmpty)
    }

    @Test("Asks of two parts go to two skills at once")
    func parts() {
        let model = IntentModel(manifests: Self.strange).trained()
        let plan = model.decide(RoutingQuestion(text: "water the tomatoes, and then feed the spaniel")).plan
        #expect(plan.mode == .parallel)
        #expect(Set(plan.steps.map(\.skill)) == ["greenhouse", "kennel"])
    }

    @Test(
        "One wish is not taken for several, whatever is said beside it",
        arguments: [
            "water the tomatoes, would you do that for me", "is the soil of the basil dry, do you know",
            "how moist are the beds and the soil of the next tomatoes", "open the roof vents at 9:30 and at 10:30",
        ]
    )
    func oneWish(text: String) {
        let plan = IntentModel(manifests: Self.strange).trained().decide(RoutingQuestion(text: text)).plan
        #expect(plan.steps.map(\.skill) == ["greenhouse"])
    }

    @Test("A time of day is no end of a clause")
    func timeOfDay() {
        #expect(Reading(Units("call me at 9:30"), lexicon: .shared, forgiving: true).clauses.count == 1)
        #expect(Reading(Units("summarise this: 30 apples"), lexicon: .shared, forgiving: true).clauses.count == 2)
    }

    @Test("A skill without an example is told by the words of its description")
    func withoutExamples() {
        let model = IntentModel(
            manifests: [
                SkillManifest(id: "greenhouse", description: "Tomatoes, basil, the moisture of beds."),
                SkillManifest(id: "kennel", description: "Spaniels, collies, their walks and their food."),
                SkillManifest(id: "observatory", description: "Telescope, dome, comets, the mirror."),
            ]
        )
        .trained()
        for (text, skill) in [("moisture of the basil", "greenhouse"), ("food for the collies", "kennel")] {
            #expect(model.decide(RoutingQuestion(text: text)).scores.first?.skill == skill)
        }
    }

    @Test("A model that takes over what another has read decides like one that has read all itself")
    func reusing() {
        let texts = ["water the tomatoes", "walk the puppy", "is the dome closed", "feed the comet", "总结一下", ""]
        let fresh = IntentModel(manifests: Self.strange)
        var changed = Self.strange
        changed[1].examples = ["is the dome closed"]
        let fewer = IntentModel(manifests: Array(Self.strange.dropLast()))
        let other = IntentModel(manifests: changed)
        for earlier in [fewer, other, fresh] {
            let model = IntentModel(manifests: Self.strange, reusing: earlier)
            for text in texts {
                let question = RoutingQuestion(text: text)
                #expect(model.decide(question).scores == fresh.decide(question).scores)
                #expect(model.decide(question).plan == fresh.decide(question).plan)
            }
        }
    }

    @Test("Says that the examples made a score")
    func reasons() {
        let model = IntentModel(manifests: Self.strange).trained()
        let score = model.decide(RoutingQuestion(text: "water the tomatoes")).scores.first
        #expect(score?.reasons.contains { $0.contains("like its examples") } == true)
        let quick = model.decide(RoutingQuestion(text: "water the tomatoes", wantsReasons: false)).scores.first
        #expect(quick?.reasons == [] && quick?.score == score?.score)
    }

    @Test("The same manifests in any order teach the same")
    func order() {
        let one = IntentModel(manifests: Self.strange).trained()
        let other = IntentModel(manifests: Self.strange.reversed()).trained()
        for text in ["is the dome dry", "feed the beds", "the comet", ""] {
            #expect(
                one.decide(RoutingQuestion(text: text)).scores == other.decide(RoutingQuestion(text: text)).scores
            )
        }
    }

    @Test("One skill, or none, has nothing to be told apart from", arguments: [0, 1])
    func few(count: Int) {
        let model = IntentModel(manifests: Array(Self.strange.prefix(count))).trained()
        #expect(model.decide(RoutingQuestion(text: "water the tomatoes")).plan.steps.count <= 1)
    }

    @Test("Two skills with the same words are told apart by priority alone")
    func twins() {
        let twins = [("a", 40), ("b", 60)].map { id, priority in
            SkillManifest(id: id, description: "Waters plants.", examples: ["water the tomatoes"], priority: priority)
        }
        #expect(best(IntentModel(manifests: twins + Self.strange.dropFirst()).trained(), "water the tomatoes") == "b")
    }

    @Test("What the lexicon knows is still decided by it")
    func usual() {
        let model = IntentModel(manifests: Manifests.usual).trained()
        #expect(best(model, "总结一下这段文字") == "summarize")
        #expect(best(model, "what is 25 times 4") == "calculator")
        #expect(best(model, "don't translate it, just summarise it") == "summarize")
    }
    @Test(
        "A wish for a skill of a kind that the lexicon does not know is served beside one that it knows",
        arguments: [
            ("summarise this report and water the tomatoes", "greenhouse summarize"),
            ("water the tomatoes, and then extract the keywords", "greenhouse keywords"),
            ("summarise this report and hurry", "summarize"),
            ("summarise the notes of the meeting, they are about the budget", "summarize"),
        ]
    )
    func besideCues(text: String, skills: String) {
        let model = IntentModel(manifests: Manifests.usual + [Self.strange[0]]).trained()
        let found = model.decide(RoutingQuestion(text: text)).plan.steps.map(\.skill)
        #expect(found.sorted().joined(separator: " ") == skills)
    }

    @Test("Words near each other count in whichever order they stand")
    func company() {
        let skills = [
            ("pump", ["is the pump of the pond broken", "mend the pump by the pond", "pump and pond"]),
            ("pond", ["feed the fish in the pond", "clean the pond", "how deep is the pond"]),
            ("lift", ["is the lift broken", "mend the lift", "the lift is stuck"]),
        ].map { id, examples in SkillManifest(id: "do-\(id)", description: "A \(id).", examples: examples) }
        let company = ["lost my card", "card that was lost"].map { Set(Grams(Units($0)).company.map(\.key)) }
        #expect(company[0].intersection(company[1]).count == 1)
        #expect(best(IntentModel(manifests: skills).trained(), "the pond has a broken pump") == "do-pump")
    }

    @Test(
        "A subject that a manifest names is found by what people say of it",
        arguments: [
            ("will it rain", "weather"), ("会下雨吗", "weather"), ("do i need an umbrella", "weather"),
            ("wake me at seven", "alarm"), ("早上叫醒我", "alarm"), ("how much money is left in it", "balance"),
            ("还剩多少", "balance"),
        ]
    )
    func subjects(text: String, skill: String) {
        let skills = ["weather", "alarm", "balance", "recipe", "traffic"].map {
            SkillManifest(id: $0, description: $0)
        }
        let scores = IntentModel(manifests: skills).trained().decide(RoutingQuestion(text: text)).scores
        #expect(scores.first?.skill == skill)
    }

    @Test("Each word of the table of subjects is one that texts have")
    func associations() {
        for line in AssociationText.all.split(whereSeparator: \.isNewline) where line.first != "#" {
            #expect(line.split(separator: "|").count == 2, "\(line)")
            for word in line.split(whereSeparator: { $0 == " " || $0 == "|" }) {
                let units = Units(String(word)).list
                let isHan = units.allSatisfy { $0.kind == .han }
                #expect(!units.isEmpty && (!isHan || units.count <= Grams.longestRun), "\(word)")
            }
        }
    }
}

@Suite("Thresholds")
struct ThresholdTests {
    private static let cases: [IntentEvaluation.Case] =
        (0..<30).map { number in
            .init(utterance: "water the \(number)th tomato", expected: .init(mode: .single, skills: ["greenhouse"]))
        }
        + (0..<30).map { number in
            .init(utterance: "repaint my \(number)th violin", expected: .init(mode: .none, skills: []))
        }

    private let model = IntentModel(
        manifests: [
            SkillManifest(
                id: "greenhouse",
                description: "Plants.",
                examples: ["water the tomatoes", "open the vents"]
            ),
            SkillManifest(id: "kennel", description: "Dogs.", examples: ["feed the spaniel", "walk the dogs"]),
        ]
    )
    .trained()

    @Test("Fitted ones keep what a skill serves and refuse the rest")
    func fitting() {
        let fitted = model.fitted(to: Self.cases)
        #expect(fitted.scope != nil)
        let result = IntentEvaluation(model.with(fitted), cases: Self.cases)
        #expect(result.exact.value >= 0.95)
    }

    @Test("Without a case that nothing serves, nothing is refused")
    func nothingToRefuse() {
        let fitted = model.fitted(to: Array(Self.cases.prefix(30)))
        #expect(fitted.least == 0)
        #expect(model.with(fitted).decide(RoutingQuestion(text: "an obelisk")).plan.mode == .single)
    }

    @Test("A skill's own threshold stands before the general one")
    func single() {
        let thresholds = RoutingThresholds(least: 0, skills: ["greenhouse": 2])
        let decision = model.with(thresholds).decide(RoutingQuestion(text: "water the tomatoes"))
        #expect(decision.plan.mode == .none)
        #expect(decision.nearest.first == "greenhouse")
    }

    @Test("They are read back as they were written")
    func coding() throws {
        let fitted = model.fitted(to: Self.cases)
        #expect(try JSONBody.decode(RoutingThresholds.self, from: JSONBody.encode(fitted)) == fitted)
    }

    @Test("A file that is not there, or holds something else, is named")
    func files() {
        #expect(throws: WireError.self) { try RoutingThresholds(file: "/nonexistent/thresholds.json") }
        #expect(throws: WireError.self) { try RoutingThresholds(file: "/dev/null") }
        #expect(throws: WireError.self) { try RoutingThresholds(file: "/dev/zero") }
    }
}

@Suite("Linear classifier")
struct LinearClassifierTests {
    @Test("Separates what can be separated, and the same way each time")
    func separates() {
        var random = SplitMix(seed: 7)
        var texts: [Vocabulary.Vector] = []
        var classes: [Int32] = []
        for _ in 0..<300 {
            let number = random.below(3)
            // Two features of its own class, one of any.
            let features = [number * 2, number * 2 + 1, 6 + random.below(4)]
            texts.append(.init(features: features.map(Int32.init), values: [0.6, 0.6, 0.5]))
            classes.append(Int32(number))
        }
        func learn() -> LinearClassifier {
            LinearClassifier(
                texts,
                classes: classes,
                classCount: 3,
                featureCount: 10
            )
        }
        let first = learn()
        let second = learn()
        for (text, label) in zip(texts, classes) {
            let scores = first.scores(text)
            #expect(scores.indices.max { scores[$0] < scores[$1] } == Int(label))
            #expect(scores == second.scores(text))
        }
    }

    @Test("A text without a known feature has the classes' biases, which are no numbers out of range")
    func strangers() {
        let text = Vocabulary.Vector(features: [0], values: [1])
        let classifier = LinearClassifier(
            [text, Vocabulary.Vector(features: [1], values: [1])],
            classes: [0, 1],
            classCount: 2,
            featureCount: 2
        )
        #expect(classifier.scores(Vocabulary.Vector()).allSatisfy { $0.isFinite })
    }
}

@Suite("Key table")
struct KeyTableTests {
    @Test("Finds what was put in, and nothing else")
    func finds() {
        var table = KeyTable(capacity: 1000)
        var random = SplitMix(seed: 3)
        let keys = (0..<1000).map { _ in random.next() }
        for (number, key) in keys.enumerated() { table.insert(key, Int32(number)) }
        for (number, key) in keys.enumerated() { #expect(table[key] == Int32(number)) }
        for _ in 0..<1000 { #expect(table[random.next()] == nil) }
        #expect(table[0] == nil)
    }
}
