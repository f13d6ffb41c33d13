import Wire

/// Skills as a usual installation has them.
enum Manifests {
    static let summarize = SkillManifest(
        id: "summarize",
        displayName: "Summarize",
        description: """
            Summarise a text, article, report or document: its main points, gist, key takeaways or a TL;DR, shorter than \
            the original. 总结、概括、归纳一段文字、文章、报告或文件：摘要、要点、大意、主要内容、长文缩短。
            """,
        inputSchema: [
            "type": "object",
            "properties": [
                "points": [
                    "type": "integer", "minimum": 1, "maximum": 10,
                    "description": "How many points or sentences the summary has.",
                ]
            ],
        ],
        consumes: ["text", "passages"],
        examples: ["summarize this article", "tl;dr please", "总结这篇文章", "概括一下这份报告的主要内容"]
    )
    static let keywords = SkillManifest(
        id: "keywords",
        displayName: "Keywords",
        description: """
            Extract the keywords, key phrases, key terms or tags of a text that the user gives. \
            从一段文字、文章或文件中提取关键词、关键字、关键短语、术语、标签。
            """,
        inputSchema: [
            "type": "object",
            "properties": ["count": ["type": "integer", "description": "How many keywords, 1 to 50."]],
        ],
        consumes: ["text", "passages"],
        examples: ["extract keywords from this article", "suggest tags for the blog entry", "提取这篇文章的关键词"]
    )
    static let knowledge = SkillManifest(
        id: "knowledge",
        displayName: "Knowledge",
        description: """
            Answer questions of fact from the documents of the knowledge base, with the passages and their sources: what, \
            who, when, where, why, how. 从知识库的文档中查找资料，回答事实性问题，给出原文段落和出处。
            """,
        consumes: ["question"],
        produces: ["text", "passages"],
        examples: ["what is a distributed system", "look up the leave policy", "查一下报销流程", "什么是消息队列"]
    )
    static let calculator = SkillManifest(
        id: "calculator",
        displayName: "Calculator",
        description: """
            Calculate exactly: arithmetic, percentages, powers, roots, unit conversion. \
            精确计算：四则运算、百分比、乘方、开方、单位换算。
            """,
        inputSchema: [
            "type": "object",
            "properties": ["precision": ["type": "integer", "description": "Decimal places of the result. 小数位数"]],
        ],
        consumes: ["expression"],
        produces: ["text", "number"],
        examples: ["what is 12.5% of 480", "sqrt(2)", "10 miles in km", "三加四等于几", "计算 128*46"]
    )
    static let chat = SkillManifest(
        id: "chat",
        displayName: "Chat",
        description: """
            Small talk, greetings, thanks, and questions about the assistant; takes what no other skill serves. \
            闲聊、问候、感谢，以及关于助手自己的问题。
            """,
        examples: ["hello", "who are you", "tell me a joke", "你好", "谢谢", "讲个笑话"],
        priority: 10
    )
    static let translate = SkillManifest(
        id: "translate",
        description: "Translate a text into another language. 把文本翻译成另一种语言。"
    )
    static let citations = SkillManifest(
        id: "citations",
        description: "Citations and references: format or add references, a bibliography. 引用与参考文献，标注来源。",
        consumes: ["passages", "text"]
    )

    static let usual = [summarize, keywords, knowledge, calculator, chat]
}
