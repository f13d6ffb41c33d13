import Material
import SkillKit
import SkillKitTesting
import Testing
import Text
import Wire

@testable import ChatWorker
@testable import KeywordsWorker
@testable import SummarizeWorker

/// Texts of megabytes: refused beyond the limit, stopped when nobody wants the answer any more.
@Suite(.timeLimit(.minutes(1))) struct LongTextTests {
    private func file(_ text: String) -> SkillInput {
        SkillInput(
            text: "read this",
            attachments: [.init(name: "a.txt", mediaType: "text/plain", data: Array(text.utf8))]
        )
    }

    @Test func whatIsOverTheLimitIsRefusedNamingIt() async {
        let input = file(String(repeating: "x", count: Material.limit + 1))
        for run in [await SkillRun(Keywords(), input), await SkillRun(Summarize(), input)] {
            #expect(run.error?.code == "text_too_long")
            #expect(run.error?.message == "the text has 8388609 bytes; the limit is 8388608, which is 8 MB")
            #expect(run.error?.retryable == false)
        }
    }

    @Test func theSizeOfAnInputIsThatOfItsMaterial() {
        #expect(SkillInput(text: "abc").materialSize == 3)
        #expect(SkillInput(text: "do: abc", separatedMaterial: "abc").materialSize == 3)
        #expect(file("数").materialSize == 3)
        let binary = SkillInput.Attachment(name: "a", mediaType: "text/plain", data: [0xFF, 0x20])
        #expect(SkillInput(text: "abc", attachments: [binary]).materialSize == 3)
        #expect(!binary.isText && binary.text == nil)
        let marked = SkillInput.Attachment(name: "a", mediaType: "text/plain", data: [0xEF, 0xBB, 0xBF, 0x61])
        #expect(marked.text == "a")
    }

    /// One sentence without any border in it: there is nothing between its start and its end but words.
    @Test(arguments: ["tide mill ", "分布式数据库"])
    func aCancelledSkillStopsInTheMiddleOfASentence(_ unit: String) async {
        let input = file(String(repeating: unit, count: 2_000_000 / unit.utf8.count))
        for skill in 0..<2 {
            let start = ContinuousClock.now
            let task = Task {
                skill == 0 ? await SkillRun(Keywords(), input) : await SkillRun(Summarize(), input)
            }
            task.cancel()
            let run = await task.value
            #expect(run.output == nil)
            #expect(run.error?.message.contains("CancellationError") == true)
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test func smallTalkLooksAtTheStartOfAText() async {
        let word = "wonderfull helo "
        let start = ContinuousClock.now
        let run = await SkillRun(Chat(), SkillInput(text: String(repeating: word, count: (1 << 20) / word.utf8.count)))
        #expect(run.output != nil)
        #expect(ContinuousClock.now - start < .seconds(10))
    }
}
