internal import ModelAccess
internal import SkillKit

@main
struct ChatMain {
    static func main() async {
        await SkillWorker.run(Chat(access: .ofProcess("skillbus-worker-chat")))
    }
}
