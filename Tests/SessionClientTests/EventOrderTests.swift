import Testing
import Wire

@testable import SessionClient

func sessionEvent(
    _ seq: UInt64?,
    _ type: String = "job.delta",
    request: String? = "r1",
    step: String? = nil,
    skill: String? = nil,
    attempt: UInt32? = nil,
    _ data: JSONValue = [:]
) -> SessionEvent {
    SessionEvent(
        seq: seq,
        time: "2026-11-30T08:00:00.000Z",
        session: "s",
        request: request,
        job: step.map { "job-\($0)" },
        step: step,
        skill: skill,
        attempt: attempt,
        type: type,
        data: data
    )
}

func gapEvent(_ from: Int64, _ to: Int64) -> SessionEvent {
    sessionEvent(nil, "gap", request: nil, ["from": .integer(from), "to": .integer(to)])
}

struct EventOrderTests {
    @Test("Each event is handed out once, in order")
    func once() {
        var order = EventOrder(after: nil)
        #expect(order.place(sessionEvent(1)) == .deliver(after: nil))
        #expect(order.place(sessionEvent(1)) == .drop)
        #expect(order.place(sessionEvent(2)) == .deliver(after: nil))
        #expect(order.last == 2)
    }

    @Test("A hole is asked for; if it stays, it is reported")
    func hole() {
        var order = EventOrder(after: 4)
        #expect(order.place(sessionEvent(7)) == .askAgain(from: 5, to: 6))
        #expect(order.last == 4)
        #expect(order.place(sessionEvent(7)) == .deliver(after: gapEvent(5, 6)))
        #expect(order.place(sessionEvent(8)) == .deliver(after: nil))
    }

    @Test("A hole that is filled leaves nothing behind")
    func filledHole() {
        var order = EventOrder(after: 4)
        #expect(order.place(sessionEvent(7)) == .askAgain(from: 5, to: 6))
        for seq in 5...7 { #expect(order.place(sessionEvent(UInt64(seq))) == .deliver(after: nil)) }
    }

    @Test("After a gap the stream goes on where it does, and the same gap again is dropped")
    func gap() {
        var order = EventOrder(after: 4)
        #expect(order.place(gapEvent(5, 9)) == .deliver(after: nil))
        #expect(order.place(gapEvent(5, 9)) == .drop)
        #expect(order.place(sessionEvent(10)) == .deliver(after: nil))
        #expect(order.place(sessionEvent(10)) == .drop)
        #expect(order.place(gapEvent(11, 20)) == .deliver(after: nil))
    }

    @Test("A restored store may count on from a lower number")
    func restored() {
        var order = EventOrder(after: 500)
        #expect(order.place(gapEvent(301, 500)) == .deliver(after: nil))
        #expect(order.place(sessionEvent(301)) == .deliver(after: nil))
        #expect(order.last == 301)
        #expect(order.place(sessionEvent(302)) == .deliver(after: nil))
    }
}
