internal import SkillKit

@main
struct ChatMain {
    static func main() async {
        await SkillWorker.run(Chat())
    }
}
