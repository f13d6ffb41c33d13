import SkillKit
import Wire

@testable import AgentWorker
@testable import CalculatorWorker
@testable import ChatWorker
@testable import CitationsWorker
@testable import KeywordsWorker
@testable import KnowledgeWorker
@testable import SummarizeWorker
@testable import TranslateWorker

/// The skills of this repository, as their workers announce them.
enum Manifests {
    static let summarize = Summarize.completeManifest
    static let keywords = Keywords.completeManifest
    static let knowledge = Knowledge.completeManifest
    static let calculator = Calculator.completeManifest
    static let chat = Chat.completeManifest
    static let agent = Agent.completeManifest
    static let translate = Translate.completeManifest
    static let citations = Citations.completeManifest

    static let usual = [summarize, keywords, knowledge, calculator, chat, agent]
}
