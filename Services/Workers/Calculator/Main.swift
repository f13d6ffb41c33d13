internal import SkillKit

@main
struct CalculatorMain {
    static func main() async {
        await SkillWorker.run(Calculator())
    }
}
