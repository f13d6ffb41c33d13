import SkillKit
import SkillKitTesting
import Synchronization
import Testing
import Wire

/// What a skill may send to outside parties.
@Suite struct PrivacyTests {
    /// Sends its text somewhere, or says that it could not.
    struct Teller: Skill {
        static let manifest = SkillManifest(id: "teller", description: "Tells.", sendsDataTo: ["api.example.org"])
        var party = "api.example.org"
        func execute(
            _ input: SkillInput,
            _ arguments: NoArguments,
            _ context: SkillContext
        ) async throws -> SkillOutput {
            try await context.disclose(party: party, bytes: input.text.utf8.count, purpose: "telling")
            return SkillOutput(text: "told")
        }
    }

    private let disclosure = Disclosure(party: "api.example.org", bytes: 5, purpose: "telling")

    @Test func localOnlyIsAnErrorThatSaysWhatToDo() async throws {
        let run = await SkillRun(Teller(), SkillInput(text: "hello"), allows: { _ in true })
        let error = try #require(run.error)
        #expect(error.code == "local_only" && !error.retryable)
        #expect(error.message.contains("5 bytes") && error.message.contains("api.example.org"))
        #expect(error.hint?.contains("--privacy ask") == true)
        #expect(!run.events.contains(.disclosure(disclosure)))
    }

    @Test func allowTellsTheUserAndGoesOn() async {
        let run = await SkillRun(Teller(), SkillInput(text: "hello"), privacy: .allow)
        #expect(run.events.dropFirst().first == .disclosure(disclosure))
        #expect(run.output?.text == "told")
    }

    @Test(arguments: [true, false]) func askDoesAsTheUserSays(isAllowed: Bool) async {
        let run = await SkillRun(
            Teller(),
            SkillInput(text: "hello"),
            privacy: .ask,
            allows: { asked in
                #expect(asked == disclosure)
                return isAllowed
            }
        )
        #expect(run.events.contains(.disclosure(disclosure)) == isAllowed)
        #expect(run.error?.code == (isAllowed ? nil : "not_allowed"))
    }

    @Test(arguments: ["", String(repeating: "x", count: 257), "a\u{0}b"])
    func aPartyHasAName(party: String) async {
        let run = await SkillRun(Teller(party: party), SkillInput(text: "hello"), privacy: .allow)
        #expect(run.error?.code == "bad_message")
    }

    /// Where nobody can be asked, nothing is allowed.
    @Test func withoutAnybodyToAskNothingLeaves() async {
        struct Silent: SkillReporter {
            func report(_ event: SkillEvent) {}
            func call(
                _ skill: String,
                _ input: JobInput,
                _ files: [SkillInput.Attachment]
            ) async throws(SkillError) -> SkillOutput {
                throw SkillError("unknown_skill", skill)
            }
        }
        let execution = Execution(job: .none, generation: 1, attempt: 1)
        func context(approved: [String]) -> SkillContext {
            SkillContext(
                session: "s",
                execution: execution,
                deadline: .now + .seconds(9),
                privacy: .ask,
                approved: approved,
                reporter: Silent()
            )
        }
        await #expect(throws: SkillError.self) {
            try await context(approved: ["another.example.org"]).disclose(party: "p", bytes: 1, purpose: "")
        }
        await #expect(throws: Never.self) {
            try await context(approved: ["p"]).disclose(party: "p", bytes: 1, purpose: "")
        }
    }

    @Test func aCalledSkillIsBoundByTheSamePolicy() async {
        struct Caller: Skill {
            static let manifest = SkillManifest(id: "caller", description: "Calls.")
            func execute(
                _ input: SkillInput,
                _ arguments: NoArguments,
                _ context: SkillContext
            ) async throws -> SkillOutput { try await context.call("teller", text: input.text) }
        }
        for policy in PrivacyPolicy.allCases {
            let seen = Mutex<JobInput?>(nil)
            _ = await SkillRun(
                Caller(),
                SkillInput(text: "hello"),
                privacy: policy,
                calls: { _, input in
                    seen.withLock { $0 = input }
                    return SkillOutput(text: "")
                }
            )
            #expect(seen.withLock { $0?.privacy ?? .localOnly } == policy)
        }
    }

    @Test func policiesAreOrderedByStrictness() {
        #expect(PrivacyPolicy.allCases.sorted() == [.localOnly, .ask, .allow])
        #expect(min(PrivacyPolicy.allow, .ask) == .ask && min(PrivacyPolicy.localOnly, .allow) == .localOnly)
    }
}
