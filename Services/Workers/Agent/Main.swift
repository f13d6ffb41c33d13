internal import ModelAccess
internal import SkillKit

@main
struct AgentMain {
    static func main() async {
        await SkillWorker.run(Agent(access: .ofProcess("skillbus-worker-agent")))
    }
}
