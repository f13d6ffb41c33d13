import Testing
import Wire

struct IdentifierTests {
    @Test func textFormRoundTrips() {
        for _ in 0..<100 {
            let identifier = Identifier.timeOrdered(milliseconds: 1_764_493_200_000)
            #expect(Identifier(identifier.description) == identifier)
            #expect(Identifier(identifier.description.uppercased()) == identifier)
        }
    }

    @Test(arguments: [
        "", "x", "0192f3a4b5c67d8e9fa0b1c2d3e40000", "0192f3a4-b5c6-7d8e-9fa0-b1c2d3e4000",
        "0192f3a4-b5c6-7d8e-9fa0-b1c2d3e400000", "0192f3a4-b5c6-7d8e-9fa0-b1c2d3e4000g",
    ])
    func otherTextIsNone(_ text: String) { #expect(Identifier(text) == nil) }

    @Test func laterIsGreaterAndVersionIsSeven() {
        let early = Identifier.timeOrdered(milliseconds: 1000)
        let late = Identifier.timeOrdered(milliseconds: 1001)
        #expect(early < late)
        #expect(early.high >> 12 & 15 == 7)
        #expect(early.low >> 62 == 2)
        #expect(early.step == 0)
    }

    @Test func aJobKnowsItsRequest() {
        let request = Identifier.timeOrdered(milliseconds: 1)
        let job = request.job(step: 65_535)
        #expect(job.step == 65_535)
        #expect(job.request == request)
        #expect(job != request)
    }
}

struct ManifestTests {
    let good = SkillManifest(id: "echo", description: "Says it again.")

    @Test func aGoodManifestPasses() throws { try good.validate() }

    @Test(arguments: [
        ("id", SkillManifest(id: "", description: "d")), ("id", SkillManifest(id: "Echo", description: "d")),
        ("id", SkillManifest(id: "1echo", description: "d")), ("id", SkillManifest(id: "écho", description: "d")),
        ("description", SkillManifest(id: "echo", description: " \n")),
        ("version", SkillManifest(id: "echo", description: "d", version: "1.0")),
        ("concurrency", SkillManifest(id: "echo", description: "d", concurrency: 0)),
        ("timeout", SkillManifest(id: "echo", description: "d", timeout: 0)),
        ("cacheTTL", SkillManifest(id: "echo", description: "d", cacheTTL: -1)),
        ("inputSchema", SkillManifest(id: "echo", description: "d", inputSchema: "x")),
        ("priority", SkillManifest(id: "echo", description: "d", priority: 5000)),
        ("produces", SkillManifest(id: "echo", description: "d", produces: [""])),
    ])
    func aBadFieldIsNamed(_ field: String, _ manifest: SkillManifest) {
        let error = #expect(throws: ManifestError.self) { try manifest.validate() }
        #expect(error?.field == field)
    }

    @Test func onlyIdAndDescriptionAreNeeded() throws {
        let json = Array(#"{"id":"echo","description":"Says it again."}"#.utf8)
        #expect(try JSONBody.decode(SkillManifest.self, from: json) == good)
    }

    @Test func aMissingFieldIsNamed() {
        let error = #expect(throws: WireError.self) {
            try JSONBody.decode(SkillManifest.self, from: Array(#"{"id":"echo"}"#.utf8))
        }
        #expect(error?.description.contains("\"description\" is missing") == true)
    }

    @Test(arguments: [
        (#"{"id":"e","description":"d","version":"1.0.0","cacheTTL":1.5,"priority":2.5}"#, #""priority" is 2.5"#),
        (#"{"id":"e","description":"d","concurrency":99999999999999999999}"#, #""concurrency" is 1e+20"#),
    ])
    func aNumberThatDoesNotFitIsNamed(json: String, named: String) {
        let error = #expect(throws: WireError.self) {
            try JSONBody.decode(SkillManifest.self, from: Array(json.utf8))
        }
        #expect(error?.description.contains(named) == true, "\(error?.description ?? "")")
    }

    @Test func whatIsNoJSONIsNotBlamedOnANumber() {
        let error = #expect(throws: WireError.self) {
            try JSONBody.decode(SkillManifest.self, from: Array(#"{"id":1.5"#.utf8))
        }
        #expect(error?.description.contains("not valid JSON") == true)
    }

    @Test func versionsOrderAsSemverSays() throws {
        let order = [
            "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.2.0",
            "1.10.0", "2.0.0",
        ]
        let versions = try order.map { try #require(SemanticVersion($0)) }
        #expect(versions == versions.shuffled().sorted())
        #expect(SemanticVersion("1.0.0+build") == SemanticVersion("1.0.0"))
        for bad in ["", "1", "1.0", "1.0.x", "v1.0.0"] { #expect(SemanticVersion(bad) == nil) }
    }
}

struct PlanTests {
    @Test func aPlanIsCheckedBeforeItRuns() throws {
        try Plan(mode: .chain, steps: [.init(number: 1, skill: "a"), .init(number: 2, skill: "b", after: ["s1"])])
            .validate()
        #expect(throws: PlanError.badDependency(step: "s1", after: "s2")) {
            try Plan(
                mode: .chain,
                steps: [.init(number: 1, skill: "a", after: ["s2"]), .init(number: 2, skill: "b", after: ["s1"])]
            ).validate()
        }
        #expect(throws: PlanError.badStepID("s3")) {
            try Plan(mode: .single, steps: [.init(number: 3, skill: "a")]).validate()
        }
        let many = (1...33).map { Plan.Step(number: UInt16($0), skill: "a") }
        #expect(throws: PlanError.tooManySteps(33)) { try Plan(mode: .parallel, steps: many).validate() }
        let deep = (1...9).map { Plan.Step(number: UInt16($0), skill: "a", after: $0 == 1 ? [] : ["s\($0 - 1)"]) }
        #expect(throws: PlanError.tooDeep(9)) { try Plan(mode: .chain, steps: deep).validate() }
    }
}
