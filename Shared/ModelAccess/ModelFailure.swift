internal import LLM
internal import SkillKit

/// A failed call of a model in words that its user can act on, in the user's language.
struct ModelFailure {
    private let error: LLMError
    private let isChinese: Bool

    init(_ error: LLMError, isChinese: Bool) {
        self.error = error
        self.isChinese = isChinese
    }

    /// Stable.
    var code: String {
        switch error.kind {
        case .configuration: "model_misconfigured"
        case .outside: "model_not_allowed"
        case .unreachable: "model_unreachable"
        case .timeout: "model_timeout"
        case .truncated: "truncated"
        case .badResponse: "model_bad_response"
        case .budget: "model_budget"
        case .cancelled: "cancelled"
        case .refused, .stream:
            switch error.cause {
            case .contextOverflow: "model_input_too_long"
            case .rateLimit, .overloaded: "model_busy"
            case .quota: "model_quota"
            case .key: "model_key"
            case .notFound: "model_not_found"
            case nil: "model_failed"
            }
        }
    }

    /// What happened, on one line.
    var message: String {
        let place = error.endpoint ?? (isChinese ? "模型服务" : "the model endpoint")
        let own = error.message
        return isChinese ? chinese(place, own) : english(place, own)
    }

    private func english(_ place: String, _ own: String) -> String {
        switch error.kind {
        case .configuration: own
        case .outside: "the model at \(place) is not on this host, and the text may not leave it"
        case .unreachable: "the model at \(place) cannot be reached (\(own))"
        case .timeout(.firstToken): "the model at \(place) does not answer (\(own))"
        case .timeout(.idle): "the model at \(place) stopped in the middle of its answer (\(own))"
        case .timeout(.total): "the model at \(place) took too long (\(own))"
        case .truncated: "the answer of the model at \(place) is incomplete (\(own))"
        case .badResponse: "what answers at \(place) is not a model endpoint, or is broken (\(own))"
        case .budget: "the budget of tokens is spent"
        case .cancelled: "cancelled"
        case .refused, .stream:
            switch error.cause {
            case .contextOverflow: "the text is longer than the model at \(place) can read (\(own))"
            case .rateLimit: "the model at \(place) gets too many requests (\(own))"
            case .overloaded: "the model at \(place) is busy or still loading (\(own))"
            case .quota: "the account at \(place) has nothing left (\(own))"
            case .key: "\(place) does not accept the key (\(own))"
            case .notFound: "\(place) does not know the model or the address (\(own))"
            case nil: "the model at \(place) reported an error (\(own))"
            }
        }
    }

    private func chinese(_ place: String, _ own: String) -> String {
        switch error.kind {
        case .configuration: "模型设置有误：\(own)"
        case .outside: "模型 \(place) 不在本机，而文字不允许离开本机"
        case .unreachable: "无法连接模型 \(place)（\(own)）"
        case .timeout(.firstToken): "模型 \(place) 没有回应（\(own)）"
        case .timeout(.idle): "模型 \(place) 回答到一半停住了（\(own)）"
        case .timeout(.total): "模型 \(place) 用时过长（\(own)）"
        case .truncated: "模型 \(place) 的回答不完整（\(own)）"
        case .badResponse: "\(place) 不是模型服务，或者出了故障（\(own)）"
        case .budget: "令牌预算已用完"
        case .cancelled: "已取消"
        case .refused, .stream:
            switch error.cause {
            case .contextOverflow: "文字超过了模型 \(place) 能读的长度（\(own)）"
            case .rateLimit: "模型 \(place) 收到的请求过多（\(own)）"
            case .overloaded: "模型 \(place) 正忙或仍在加载（\(own)）"
            case .quota: "\(place) 的账户额度已用完（\(own)）"
            case .key: "\(place) 不接受密钥（\(own)）"
            case .notFound: "\(place) 没有这个模型，或地址不对（\(own)）"
            case nil: "模型 \(place) 报告了错误（\(own)）"
            }
        }
    }

    private var hint: String? {
        switch error.kind {
        case .configuration:
            isChinese ? "请检查 SKILLBUS_LLM_ 开头的设置。" : "Check the settings that begin with SKILLBUS_LLM_."
        case .outside:
            isChinese
                ? "用 --privacy ask 或 allow 提问可允许外部模型，或使用本机的模型。"
                : "Ask with --privacy ask or allow to let it go there, or use a model on this host."
        case .unreachable:
            isChinese
                ? "请启动模型服务，或检查 SKILLBUS_LLM_URL；不设置它时技能离线工作。"
                : "Start the model server or check SKILLBUS_LLM_URL; without it the skill works offline."
        case .timeout, .truncated:
            isChinese ? "请再试一次；如果总是这样，请查看模型服务的日志。" : "Try again; if it goes on, look into the log of the model server."
        case .badResponse: isChinese ? "请检查 SKILLBUS_LLM_URL。" : "Check SKILLBUS_LLM_URL."
        case .budget: isChinese ? "请开始一个新会话。" : "Start a new session."
        case .cancelled: nil
        case .refused, .stream:
            switch error.cause {
            case .contextOverflow:
                isChinese ? "请缩短文字，或使用上下文更长的模型。" : "Shorten the text, or use a model that reads more."
            case .rateLimit, .overloaded: wait
            case .quota: isChinese ? "请充值，或换用另一个模型服务。" : "Top the account up, or use another endpoint."
            case .key:
                isChinese
                    ? "请检查 SKILLBUS_LLM_KEY 或 SKILLBUS_LLM_KEY_FILE。"
                    : "Check SKILLBUS_LLM_KEY or SKILLBUS_LLM_KEY_FILE."
            case .notFound:
                isChinese
                    ? "请检查 SKILLBUS_LLM_MODEL 和 SKILLBUS_LLM_URL。" : "Check SKILLBUS_LLM_MODEL and SKILLBUS_LLM_URL."
            case nil: isChinese ? "请再试一次。" : "Try again."
            }
        }
    }

    private var wait: String {
        guard let seconds = error.retryAfter, seconds >= 1 else {
            return isChinese ? "请稍后再试。" : "Try again later."
        }
        let whole = Int(min(seconds, 1e9).rounded(.up))
        return isChinese ? "请在 \(whole) 秒后再试。" : "Try again in \(whole) s."
    }

    var skillError: SkillError {
        // It has been tried again as often as makes sense.
        SkillError(code, message, hint: hint, retryable: false)
    }
}
