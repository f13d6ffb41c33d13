import SkillKit
import Wire

@testable import AgentWorker
@testable import CalculatorWorker
@testable import ChatWorker
@testable import KeywordsWorker
@testable import KnowledgeWorker
@testable import SummarizeWorker

/// The skills of this repository, as their workers announce them, and others that an installation may have.
enum Manifests {
    static let summarize = Summarize.completeManifest
    static let keywords = Keywords.completeManifest
    static let knowledge = Knowledge.completeManifest
    static let calculator = Calculator.completeManifest
    static let chat = Chat.completeManifest
    static let agent = Agent.completeManifest
    static let translate = SkillManifest(
        id: "translate",
        description: "Translate a text into another language. 把文本翻译成另一种语言。"
    )
    static let citations = SkillManifest(
        id: "citations",
        description: "Citations and references: format or add references, a bibliography. 引用与参考文献，标注来源。",
        consumes: ["passages", "text"]
    )

    static let usual = [summarize, keywords, knowledge, calculator, chat, agent]
}
