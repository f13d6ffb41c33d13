internal import ModelAccess
internal import SkillKit
internal import Text
internal import Wire

/// Conversation: with the model where there is one; otherwise small talk, which answers what can be answered honestly, and
/// says what it cannot do.
struct Chat: Skill {
    /// What may be asked of models.
    var access = ModelAccess.none

    var engine: String { access.engine }
    var sendsDataTo: [String] { access.sendsDataTo }

    static let manifest = SkillManifest(
        id: "chat",
        displayName: "Chat",
        description: """
            Small talk: greetings, goodbyes, thanks, how are you, feelings, jokes, opinions, advice, stories and poems, questions \
            about the assistant itself. 闲聊：问候、告别、感谢、情绪、笑话、看法、建议、讲故事写诗、关于助手自己的问题。
            """,
        examples: [
            "hi there", "how are you doing today", "thanks a lot, you're great", "tell me a joke", "who made you",
            "are you a human",
            "good night", "I'm bored, talk to me", "I got the job", "make up a short story", "what can you do", "你好",
            "早上好呀", "谢谢你，帮大忙了",
            "你叫什么名字", "讲个笑话听听", "我今天心情不太好", "你会做什么", "晚安，明天见", "陪我聊聊天吧", "你是机器人还是真人",
        ],
        priority: 10,
        concurrency: 16,
        // A model may take its time; small talk takes none.
        timeout: 600,
        cacheTTL: 0
    )

    func execute(_ input: SkillInput, _ arguments: NoArguments, _ context: SkillContext) async throws -> SkillOutput {
        let isChinese = Self.speaksChinese(input)
        guard input.text.contains(where: { !$0.isWhitespace }) else {
            throw isChinese
                ? SkillError("no_text", "消息是空的", hint: "说点什么吧。")
                : SkillError("no_text", "the message is empty", hint: "Write something.")
        }
        let conversation = Conversation(input, isChinese: isChinese)
        if let model = try await access.model(for: context, sending: conversation.bytes, isChinese: isChinese) {
            return try await conversation.answer(by: model, context)
        }
        return SkillOutput(text: Self.smallTalk(input, isChinese: isChinese))
    }

    private static func smallTalk(_ input: SkillInput, isChinese: Bool) -> String {
        let topic = Listener.topic(of: input.text) ?? Self.continued(input)
        // The same message at the same point of a conversation gets the same answer; a repeated one gets another.
        let turn = input.history.count { $0.role == "user" }
        let seed = input.text.utf8.reduce(turn) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
        let replies =
            topic.map { isChinese ? $0.chinese : $0.english } ?? (isChinese ? Replies.chinese : Replies.english)
        return replies.isEmpty ? Replies.english[0] : replies[(topic?.rotates == true ? turn : seed) % replies.count]
    }

    private static func speaksChinese(_ input: SkillInput) -> Bool {
        if input.text.unicodeScalars.contains(where: { Script.isHan($0.value) }) { return true }
        if input.text.unicodeScalars.contains(where: { Script.isLatin($0.value) }) { return false }
        // Only signs and emoji: as before.
        let before = input.history.last { $0.role == "user" }?.text ?? ""
        return before.unicodeScalars.contains { Script.isHan($0.value) }
    }

    /// "Another one", 再讲一个: what the turn before was about.
    private static func continued(_ input: SkillInput) -> Topic? {
        guard Listener.asksForMore(input.text) else { return nil }
        let before = input.history.last { $0.role == "user" && $0.skills?.contains(manifest.id) == true }
        return before.flatMap { Listener.topic(of: $0.text) }
    }
}
