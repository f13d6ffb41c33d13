import Testing

@testable import CLI

struct RestartPolicyTests {
    @Test("The pause doubles up to ten seconds, and starts anew after a sound run")
    func pauses() {
        var policy = RestartPolicy()
        let pauses = (0..<9).map { _ in policy.ended(after: .seconds(1)) }
        #expect(pauses.prefix(4) == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(pauses.last == .seconds(10))
        #expect(policy.ended(after: .seconds(30)) == .milliseconds(100))
    }
}
