/// What is said when the message is none of the small talk that is known.
enum Replies {
    static let english = [
        """
        I cannot talk about that: I work offline here, without a language model, so I only know a little small talk. \
        I can route your request to the skills listed by `skillbus skills`; put what you need in one sentence.
        """,
        """
        That is beyond me. No language model is connected, so I cannot make conversation or write freely; I work offline with \
        fixed skills. `skillbus skills` shows what I can do for you.
        """,
    ]

    static let chinese = [
        "这个我聊不来：我在本机离线运行，没有接入语言模型，只会一点简单的寒暄。我可以把你的请求交给 `skillbus skills` 列出的技能，请用一句话说说需要什么。",
        "这超出了我的能力。这里没有接入语言模型，我不能自由聊天或写作，只能离线使用固定的技能。运行 `skillbus skills` 可以看到我能帮你做什么。",
    ]
}
