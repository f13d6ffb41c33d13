import Glibc
import Wire

/// What it costs to write one event of 64 bytes as a message and to read it again, in one thread.
@main
enum BenchCodec {
    static func main() {
        let text = String(repeating: "e", count: 64)
        let job = Identifier.timeOrdered(milliseconds: 1)
        var frame = [UInt8](repeating: 0, count: 512)
        var sum: UInt64 = 0
        let encode = best { round in
            var records = EventRecordWriter()
            records.append(.delta, text: text)
            let header = Header(.event, job: job, generation: 1, attempt: 1, sequence: round, value: records.count)
            frame.withUnsafeMutableBytes { target in
                header.write(to: target)
                records.bytes.withUnsafeBytes { source in
                    UnsafeMutableRawBufferPointer(rebasing: target[Header.size...]).copyMemory(from: source)
                }
            }
        }
        let used = Header.size + EventRecordWriter.prefix + text.utf8.count
        let decode = best { _ in
            let bytes = frame.span.bytes.extracting(first: used)
            guard let header = try? Header(reading: bytes) else { return }
            var cursor = EventRecordCursor()
            let body = bytes.extracting(droppingFirst: Header.size)
            while let next = try? cursor.next(in: body) { sum &+= UInt64(next.payload.count) &+ header.sequence }
        }
        print("{\"encode_ns\":\(encode),\"decode_ns\":\(decode),\"checksum\":\(sum % 1000)}")
    }

    /// Nanoseconds of one call: the best of several runs, since what disturbs only ever adds.
    private static func best(_ body: (UInt64) -> Void) -> Double {
        let count: UInt64 = 200_000
        var least = Double.infinity
        for _ in 0..<7 {
            let start = nanoseconds()
            for round in 0..<count { body(round) }
            least = min(least, Double(nanoseconds() - start) / Double(count))
        }
        return least
    }

    private static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
