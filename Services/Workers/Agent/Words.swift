internal import Wire

/// What the user is told, in his language.
struct Words: Sendable {
    let isChinese: Bool

    private func say(_ english: String, _ chinese: String) -> String { isChinese ? chinese : english }

    var noText: String { say("the message is empty", "消息是空的") }
    var noTextHint: String { say("Say what is to be done.", "请说明要做什么。") }
    var noSkills: String { say("no other skill can be called now", "现在没有其他技能可以调用") }

    func calls(_ skill: String) -> String { say("calls \(skill)", "调用 \(skill)") }
    func calls(_ skill: String, _ arguments: String) -> String {
        // A line of its own: thoughts are joined.
        say("calls \(skill): \(arguments)", "调用 \(skill)：\(arguments)") + "\n"
    }
    func finished(_ skill: String, bytes: Int) -> String {
        say("\(skill) answered, \(bytes) bytes", "\(skill) 已返回 \(bytes) 字节")
    }
    func failed(_ skill: String, _ reason: String) -> String {
        say("\(skill) failed: \(reason)", "\(skill) 失败：\(reason)")
    }
    func misfit(_ skill: String, _ reason: String) -> String {
        say("a call of \(skill) does not fit: \(reason)", "对 \(skill) 的调用不符合要求：\(reason)")
    }
    func repeated(_ skill: String) -> String {
        say("\(skill) was called with the same before; not run again", "\(skill) 已用同样的参数调用过，不再重复")
    }

    func roundsOver(_ rounds: Int) -> String {
        say(
            "the limit of \(rounds) rounds of calls is reached; answering with what was found",
            "已达到 \(rounds) 轮调用的上限，用已有的结果作答"
        )
    }
    var misfitsOver: String {
        say(
            "too many calls did not fit; answering with what was found",
            "不符合要求的调用过多，用已有的结果作答"
        )
    }
    var timeNearlyOver: String {
        say("the time is nearly over; answering with what was found", "时间快到了，用已有的结果作答")
    }
    var tokensNearlyOver: String {
        say("the tokens are nearly spent; answering with what was found", "令牌即将用完，用已有的结果作答")
    }
    func tokensOver(_ tokens: Int, calls: Int) -> Failure {
        Failure(
            message: say(
                "the \(tokens) tokens of this job are spent, after \(calls) calls of skills",
                "本任务的 \(tokens) 个令牌已用完，共调用技能 \(calls) 次"
            ),
            hint: say(
                "Ask for less, or allow more: --arguments '{\"tokens\": \(min(tokens * 2, 1_000_000))}' with --skill agent.",
                "请缩小任务，或放宽上限：--skill agent --arguments '{\"tokens\": \(min(tokens * 2, 1_000_000))}'。"
            )
        )
    }
    func after(_ calls: Int, _ message: String) -> String {
        calls == 0
            ? message
            : say("\(message); calls of skills finished before that: \(calls)", "\(message)；此前已完成 \(calls) 次技能调用")
    }
    var noAnswer: String { say("it gave no answer", "它没有给出回答") }
    var startsAnew: String {
        say(
            "what was written so far does not count: the router's plan is run instead",
            "以上内容作废：改为执行路由器的计划"
        )
    }
    func notRunInstead(_ skill: String, _ message: String) -> Failure {
        Failure(
            message: say(
                "\(message); \(skill) may have done its work already and must not do it twice, so the router's plan is not run "
                    + "instead",
                "\(message)；\(skill) 可能已经生效，不能重复执行，因此不改为执行路由器的计划"
            ),
            hint: say("check whether it took effect before you ask again", "请先确认它是否已经生效，再重新提问")
        )
    }
    var cut: String {
        say("\n\n(The answer was cut here: it reached the limit of its length.)", "\n\n（回答达到长度上限，在此截断。）")
    }

    // MARK: Without a model

    func planWithoutModel(_ steps: [String]) -> String {
        let names = steps.joined(separator: " → ")
        return say("no model: running the router's plan: \(names)", "没有模型：按路由器的计划执行：\(names)")
    }
    /// Where the events say already why it is not the model that decides.
    func plan(_ steps: [String]) -> String {
        let names = steps.joined(separator: " → ")
        return say("running the router's plan: \(names)", "按路由器的计划执行：\(names)")
    }
    func noPlanEither(_ message: String) -> String {
        say("\(message); the router has no plan for this either", "\(message)；路由器也没有适合这个请求的计划")
    }
    func planFailed(_ message: String, _ skill: String, _ reason: String) -> String {
        say("\(message); the router's plan failed too: \(skill): \(reason)", "\(message)；路由器的计划也失败了：\(skill)：\(reason)")
    }
    func noPlan(_ nearest: String, hasModel: Bool) -> Failure {
        Failure(
            message: say(
                "without a model only what the router plans can be run, and it has no plan for this",
                "没有模型时只能执行路由器的计划，而它没有适合这个请求的计划"
            ),
            hint: hasModel
                ? say(
                    "Let the text go to the model (--privacy ask or allow), or name a skill: \(nearest).",
                    "请允许把文字发给模型（--privacy ask 或 allow），或指定一个技能：\(nearest)。"
                )
                : say(
                    "Set SKILLBUS_LLM_URL, or name a skill: \(nearest).",
                    "请设置 SKILLBUS_LLM_URL，或指定一个技能：\(nearest)。"
                )
        )
    }
    func skipped(_ skill: String) -> String {
        say("\(skill) is not run, since a step that it needs failed", "\(skill) 未执行：它依赖的步骤失败了")
    }

    // MARK: Choosing

    func asks(_ place: String, _ count: Int) -> String {
        say("asking \(place) which of \(count) skills is meant", "询问 \(place)：\(count) 个技能中该用哪一个")
    }
    func chose(_ skill: String, _ model: String) -> String { say("\(model) chose \(skill)", "\(model) 选择了 \(skill)") }
    func local(_ reason: String) -> String {
        say("the router decides itself: \(reason)", "由路由器自行决定：\(reason)")
    }
    var noModel: String { say("no model is set up for this skill (SKILLBUS_LLM_URL)", "没有设置模型（SKILLBUS_LLM_URL）") }
    func mayNotLeave(_ origin: String, _ policy: PrivacyPolicy) -> String {
        guard policy == .ask else {
            return say(
                "this session's text may not go to \(origin) (--privacy allow lets it)",
                "本次会话的文字不得发往 \(origin)（--privacy allow 可允许）"
            )
        }
        return say(
            "the text may not go to \(origin) in this session without a question, for which there is no time; answer one with "
                + "\"always in this session\", or ask with --privacy allow",
            "本次会话的文字未经询问不得发往 \(origin)，而此处没有时间询问；请在被询问时选择“本次会话始终允许”，或使用 --privacy allow"
        )
    }
    func unknownAnswer(_ answer: String) -> String {
        say("the model named no skill that is here: \"\(answer)\"", "模型给出的不是现有的技能：“\(answer)”")
    }
    func several(_ answer: String) -> String {
        say(
            "the model wants several skills (\(answer)), and plans of several steps are made by the router",
            "模型认为需要多个技能（\(answer)），而多步计划由路由器制定"
        )
    }
}

/// Words of a failure.
struct Failure {
    var message: String
    var hint: String
}
