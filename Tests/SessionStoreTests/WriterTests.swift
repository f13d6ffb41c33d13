import Synchronization
import TestSupport
import Testing

@testable import SessionStore

@Suite struct WriterTests {
    /// A writer whose disk fails as often as a test says.
    private func write(_ writer: Writer, failing times: Int, _ error: StoreError) async throws -> Int {
        let tries = Atomic(0)
        return try await withCheckedContinuation { continuation in
            writer.write(
                patient: true,
                { _ throws(StoreError) in
                    if tries.add(1, ordering: .relaxed).newValue <= times { throw error }
                    return times
                },
                then: { continuation.resume(returning: $0) }
            )
        }.get()
    }

    @Test func aDiskThatFailsForAMomentLosesNothingAndHoldsUpNobody() async throws {
        let folder = try TemporaryFolder()
        try Schema.create(at: folder.file("sessions.db"), in: folder.path)
        let writer = try Writer(path: folder.file("sessions.db"))
        let broken = StoreError.failed(code: 10, reason: "disk I/O error")
        async let late = write(writer, failing: 2, broken)
        #expect(try await write(writer, failing: 0, broken) == 0)
        #expect(try await late == 2)
        #expect(writer.isWritable)
        await writer.close()
    }
}
