internal import SessionClient

/// One line for each skill that is at work. A value; who draws it decides where.
enum StatusLines {
    private static let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    /// The lines of a request that runs. `started` has when each step was first seen at work, in seconds of the same
    /// clock as `now`.
    static func lines(
        _ request: RequestView?,
        started: [String: Double],
        now: Double,
        columns: Int,
        style: Style
    ) -> [String] {
        let frame = frames[Int(now * 10) % frames.count]
        let steps = (request?.steps ?? []).filter { !$0.state.isTerminal }
        if steps.isEmpty {
            let text = request?.mode == nil ? "choosing skills" : "finishing"
            return [style.cyan(frame) + " " + style.dim(text)]
        }
        let width = min(20, steps.map { Terminal.width($0.skill) }.max() ?? 0)
        return steps.map { step in
            let name = Terminal.padded(Terminal.fitted(Terminal.line(step.skill), to: width), to: width)
            var parts: [String] = []
            if let fraction = step.fraction { parts.append("\(Int((fraction * 100).rounded(.down))) %") }
            if let begin = started[step.id] { parts.append(seconds(now - begin)) }
            let right = parts.joined(separator: "  ")
            let left = columns - width - Terminal.width(right) - 6
            let what = Terminal.padded(Terminal.fitted(description(step), to: max(left, 8)), to: max(left, 8))
            let isAtWork = step.state == .running
            let mark = isAtWork ? style.cyan(frame) : style.dim("·")
            return "\(mark) \(style.bold(name)) \(style.dim(what)) \(right)"
        }
    }

    private static func description(_ step: StepView) -> String {
        switch step.state {
        case .waiting:
            return step.after.isEmpty ? "waiting for a worker" : "waiting for \(step.after.joined(separator: ", "))"
        case .retrying: return "trying again: \(Terminal.line(step.message))"
        default: break
        }
        if !step.message.isEmpty { return Terminal.line(step.message) }
        if !step.text.isEmpty { return "writing: " + Terminal.line(String(step.text.suffix(200))) }
        if !step.thinking.isEmpty { return "thinking: " + Terminal.line(String(step.thinking.suffix(200))) }
        return step.worker.map { "running on \(Terminal.line($0))" } ?? "running"
    }

    /// `1.2 s`, `75 s`.
    static func seconds(_ value: Double) -> String {
        let tenths = Int((max(value, 0) * 10).rounded())
        return tenths < 600 ? "\(tenths / 10).\(tenths % 10) s" : "\(tenths / 10) s"
    }
}
