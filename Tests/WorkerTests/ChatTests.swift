import SkillKit
import SkillKitTesting
import Testing
import Wire

@testable import ChatWorker

@Suite struct ChatTests {
    private func reply(_ text: String, _ history: [JobInput.Turn] = []) async -> String {
        await SkillRun(Chat(), SkillInput(text: text, history: history)).output?.text ?? ""
    }

    /// The topic of a message is told by any of its answers.
    private func topic(_ cue: String) throws -> Topic {
        try #require(SmallTalk.topics.first { $0.cues.contains(cue) || $0.chineseCues.contains(cue) })
    }

    @Test(arguments: [
        ("hello", "^hello"), ("Hi there!", "^hello"), ("helo frend", "^hello"), ("你好阿，很高兴人识你", "^hello"),
        ("good morning", "good morning"),
        ("早上好呀", "good morning"), ("good night", "good night"), ("晚安，明天见", "good night"), ("thanks a lot", "thanks"),
        ("谢谢你，帮大忙了", "thanks"),
        ("sorry, my mistake", "sorry"), ("how are you doing today?", "how are you"), ("今天心情怎么样", "how are you"),
        ("你是谁", "who are you"),
        ("what is your name", "your name"), ("你叫什么名字", "your name"), ("who made you", "who made you"),
        ("are you a human?", "are you human"),
        ("你是机器人还是真人", "are you human"), ("do you ever sleep", "do you sleep"), ("what can you do?", "what can you do"),
        ("你会做什么", "what can you do"),
        ("tell me a joke", "joke"), ("讲个笑话听听", "joke"), ("make up a short story about a dragon", "a poem"),
        ("给我写一首关于秋天的小诗", "a poem"),
        ("what do you think about pineapple on pizza", "what do you think"), ("你觉得猫可爱还是狗可爱", "what do you think"),
        ("我今天心情不太好", "i am sad"),
        ("今天好 emo", "i am sad"), ("今天又加班到十点，好累", "i'm tired"), ("I'm bored, talk to me", "i'm bored"),
        ("陪我聊聊天吧", "i'm bored"),
        ("I got the job!!!", "i got the job"), ("哈哈哈你真逗", "haha"), ("夸夸我", "praise me"), ("嗯嗯好的", "=ok"),
        ("hello 你在干嘛", "what are you doing"),
        ("在吗", "are you there"), ("would you mind keeping me company for a few minutes?", "i'm bored"),
        ("I want to die", "suicide"),
    ])
    func recognises(_ text: String, _ cue: String) async throws {
        let topic = try topic(cue)
        let found = try #require(Listener.topic(of: text))
        #expect(found.cues == topic.cues)
        let answers = topic.english + topic.chinese
        #expect(answers.contains(await reply(text)))
    }

    @Test(arguments: ["Please reconcile the ledger of the second quarter", "把这个季度的账目核对一下", "🙂", "????!"])
    func admitsWhatItCannot(_ text: String) async {
        let answer = await reply(text)
        #expect(!answer.isEmpty)
        if Listener.topic(of: text) == nil {
            #expect(answer.contains("skillbus skills"))
            #expect(answer.contains("offline") || answer.contains("离线"))
        }
    }

    @Test func answersInTheLanguageOfTheMessage() async {
        func isChinese(_ text: String) -> Bool { text.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) } }
        for text in ["hello", "thank you", "xyzzy plugh"] { #expect(!isChinese(await reply(text))) }
        for text in ["你好", "thx 啦", "天地玄黄"] { #expect(isChinese(await reply(text))) }
    }

    @Test func theSameTwiceButNotOverAndOver() async {
        #expect(await reply("tell me a joke") == reply("tell me a joke"))
        var history: [JobInput.Turn] = []
        var jokes: Set<String> = []
        for text in ["tell me a joke", "another one", "haha another one"] {
            let joke = await reply(text, history)
            jokes.insert(joke)
            history += [
                .init(role: "user", text: "tell me a joke", skills: ["chat"]), .init(role: "assistant", text: joke),
            ]
        }
        #expect(jokes.count == 3)
    }

    @Test func refusesNothingToSay() async {
        let run = await SkillRun(Chat(), SkillInput(text: "  "))
        #expect(run.error?.code == "no_text")
    }

    @Test func everyTopicAnswersInBothLanguages() throws {
        for topic in SmallTalk.topics {
            #expect(!topic.english.isEmpty && !topic.chinese.isEmpty)
            #expect(!topic.cues.isEmpty || !topic.chineseCues.isEmpty)
        }
        try Chat.completeManifest.validate()
        #expect(Chat.manifest.priority == 10)
    }
}
