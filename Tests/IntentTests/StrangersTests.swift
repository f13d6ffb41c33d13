import Testing
import Wire

@testable import Intent

/// Skills of other people, of kinds that the lexicon has no words for, beside those of this repository.
@Suite("Adding skills changes nothing for those that are there")
struct StrangersTests {
    private static let texts: [(id: String, description: String, examples: [String])] = [
        (
            "parking", "Parking permits of the staff.",
            ["is my parking permit still valid", "renew the permit of my van"]
        ),
        (
            "canteen", "The menu of the canteen.",
            ["what does the canteen serve on friday", "is there a vegan dish at noon"]
        ),
        ("badges", "Badges and visitors.", ["my badge no longer opens the lab", "announce a visitor for tuesday"]),
        ("greenhouse", "The greenhouse.", ["water the tomatoes", "is the soil of the basil dry"]),
        ("kennel", "The dogs.", ["feed the spaniel", "has the puppy been walked"]),
        ("observatory", "The telescope.", ["point the telescope at saturn", "is the dome closed"]),
        ("payroll", "Payslips.", ["where is my payslip of march", "why was my bonus taxed twice"]),
        ("vacation", "Days off.", ["how many days off have i left", "ask for a week off in june"]),
        (
            "incidents", "Incidents of the plant.",
            ["the press in hall two is leaking oil", "who is on duty in hall two"]
        ),
        ("laundry", "Work clothes.", ["my overalls are torn", "order two pairs of safety shoes in size 44"]),
        (
            "shuttle", "The shuttle between the sites.",
            ["when does the shuttle leave the north gate", "is the shuttle late"]
        ),
        ("lockers", "Lockers.", ["i forgot the code of my locker", "give me a locker near the gym"]),
        (
            "samples", "Samples of the laboratory.",
            ["which shelf has the copper samples", "discard the samples of 2019"]
        ),
        ("phones", "Company phones.", ["my company phone has no signal", "i left the company phone in the cab"]),
        (
            "choir", "The choir of the company.",
            ["when does the choir rehearse", "which voices are missing in the choir"]
        ),
    ]
    private static let strangers = texts.map {
        SkillManifest(id: $0.id, description: $0.description, examples: $0.examples)
    }
    private static let own = [
        Manifests.summarize, Manifests.keywords, Manifests.knowledge, Manifests.calculator, Manifests.chat,
        Manifests.agent,
        Manifests.translate, Manifests.citations,
    ]
    private static let model = IntentModel(manifests: own + strangers).trained()

    private func plan(_ text: String) -> String {
        let plan = Self.model.decide(RoutingQuestion(text: text)).plan
        return "\(plan.mode.rawValue): \(plan.steps.map(\.skill).joined(separator: " "))"
    }

    @Test(
        "What the repository's skills do, they go on doing",
        arguments: [
            ("帮我总结这篇文章并提取关键词", "parallel: summarize keywords"),
            ("调研一下分布式存储的发展趋势", "chain: knowledge summarize citations"),
            ("summarise this and then translate it into French", "chain: summarize translate"),
            ("don't translate it, just summarise it", "single: summarize"),
            ("不用翻译，总结一下就行", "single: summarize"),
            ("what is 12.5 % of 80", "single: calculator"),
            ("give me five keywords of this report", "single: keywords"),
            ("把这段话翻译成英文", "single: translate"),
            ("what is a vector clock", "single: knowledge"),
            ("hello, how are you today", "single: chat"),
        ]
    )
    func known(text: String, expected: String) { #expect(plan(text) == expected) }

    @Test(
        "Those that came serve what they came for",
        arguments: [
            ("is the permit of my car still valid", "parking"), ("water the basil", "greenhouse"),
            ("feed the puppy", "kennel"), ("why was my payslip taxed", "payroll"),
            ("when does the choir rehearse", "choir"),
            ("the code of my locker", "lockers"), ("when does the shuttle leave", "shuttle"),
        ]
    )
    func added(text: String, skill: String) { #expect(plan(text) == "single: \(skill)") }

    @Test(
        "A deed is not a skill's because it does another of the same kind",
        arguments: ["turn off the bedroom lights", "book a table for two at eight", "dim the lamp in the kitchen"]
    )
    func deeds(text: String) {
        let plan = Self.model.decide(RoutingQuestion(text: text)).plan
        #expect(plan.steps.allSatisfy { $0.skill == "chat" }, "\(plan.steps.map(\.skill))")
    }

    @Test("A deed in words of the manifest is the skill's, and in the language that the manifest lacks")
    func ownDeed() {
        let alarm = SkillManifest(id: "alarm", description: "Sets alarms and timers.")
        let model = IntentModel(manifests: Self.own + [alarm]).trained()
        for text in ["set an alarm for seven", "set a timer for ten minutes", "定个七点的闹钟"] {
            #expect(model.decide(RoutingQuestion(text: text)).plan.steps.map(\.skill) == ["alarm"], "\(text)")
        }
    }
}
