import Bus
import Wire

/// Questions of peers, and what the planner answers.
extension Exchange {
    mutating func question(_ body: [UInt8], _ header: Header, _ peer: Peer, _ side: Side) {
        do {
            let query = try JSONBody.decode(Query.self, from: body)
            switch query.ask {
            case .skills:
                let answer = Header(.answer, sequence: header.sequence)
                reply(try Outgoing(answer, json: dispatcher.registry.list), to: peer, side)
            case .route:
                let size = query.text?.utf8.count ?? 0
                guard size <= Limits.requestText else {
                    throw WireError.tooLarge(what: "text", limit: Limits.requestText, got: size)
                }
                guard questions.count < Limits.planning else {
                    throw JobError(code: JobError.Code.overloaded, message: "too many questions wait for the planner")
                }
                questions[nextTask] = (peer, side, header.sequence)
                planner.submit(.init(number: nextTask, kind: .question(query)))
                nextTask += 1
            }
        } catch {
            let refusal = JobError(code: JobError.Code.badMessage, message: "\(error)")
            complain(to: peer, side, refusal, sequence: header.sequence)
        }
    }

    mutating func takePlans(now: UInt64) {
        for (number, answer) in planner.takeResults() {
            switch answer {
            case .request(let result):
                guard let task = tasks.removeValue(forKey: number) else { continue }
                dispatcher.planned(task, result, now: now)
            case .question(let plan):
                guard let (peer, side, sequence) = questions.removeValue(forKey: number) else { continue }
                if let message = try? Outgoing(Header(.answer, sequence: sequence), json: plan) {
                    reply(message, to: peer, side)
                }
            }
        }
    }
}
