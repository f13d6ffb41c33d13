internal import SkillKit

@main
struct KnowledgeMain {
    static func main() async {
        await SkillWorker.run(Knowledge())
    }
}
