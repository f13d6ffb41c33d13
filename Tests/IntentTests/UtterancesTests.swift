import Foundation
import Intent
import Testing
import Wire

/// 320 utterances of many kinds of people for seven skills, written without knowing the lexicon: follow-ups, pastes,
/// denials, slips, two languages and their mixtures.
@Suite("Utterances of many kinds of people")
struct UtterancesTests {
    private static let file = "\(#filePath.dropLast("UtterancesTests.swift".count))Utterances/seven-skills.jsonl"

    @Test("Most go where they should")
    func seven() throws {
        let cases = try IntentEvaluation.cases(jsonLines: try Data(contentsOf: URL(filePath: Self.file)))
        let skills = Manifests.usual + [Manifests.translate, Manifests.citations]
        let result = IntentEvaluation(IntentModel(manifests: skills).trained(), cases: cases)
        #expect(cases.count == 320)
        #expect(result.exact.value >= 0.8, "\(result.exact)")
        for mode in ["single", "parallel", "chain"] {
            #expect(result.byMode[mode]?.value ?? 0 >= 0.7, "\(mode): \(String(describing: result.byMode[mode]))")
        }
        #expect(result.noneRecall.value >= 0.8 && result.nonePrecision.value >= 0.8)
    }
}
