internal import ModelAccess
internal import SkillKit

@main
struct KnowledgeMain {
    static func main() async {
        await SkillWorker.run(Knowledge(access: .ofProcess("skillbus-worker-knowledge")))
    }
}
