import Lifecycle
import Testing

@testable import SkillKit
@testable import Telemetry

/// What a worker is told on its command line, and what it says while no router takes it.
@Suite struct WorkerSettingsTests {
    @Test("A worker without a router says so after ten seconds, then rarely, and anew after each loss")
    func absence() {
        let start = ContinuousClock.now
        var absence = RouterAbsence(since: start)
        func said(from first: Int, to last: Int, isRegistered: Bool = false) -> [Int] {
            (first...last).compactMap { absence.look(isRegistered: isRegistered, at: start + .seconds($0)) }
        }
        #expect(said(from: 1, to: 600) == [10, 310])
        #expect(said(from: 601, to: 700, isRegistered: true) == [])
        #expect(said(from: 701, to: 720) == [10])
    }

    @Test("A line that repeats is written twenty times a minute; the next minute has the number that was left out")
    func repeats() {
        let limit = RepeatLimit()
        let start = ContinuousClock.now
        let first = (0..<1000).compactMap { _ in limit.admit("unreadable message", at: start) }
        #expect(first == [Int](repeating: 0, count: 20))
        #expect(limit.admit("worker refused", at: start) == 0)
        #expect(limit.admit("unreadable message", at: start + .seconds(59)) == nil)
        #expect(limit.admit("unreadable message", at: start + .seconds(60)) == 981)
        #expect(limit.admit("unreadable message", at: start + .seconds(61)) == 0)
    }

    @Test("However many different messages there are, memory stays bounded")
    func manyMessages() {
        let limit = RepeatLimit()
        let start = ContinuousClock.now
        for number in 0..<5000 { #expect(limit.admit("message \(number)", at: start) == 0) }
        #expect(limit.known <= 256)
    }
}
