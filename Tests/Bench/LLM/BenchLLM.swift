import Glibc
import LLM
import Lifecycle
import Synchronization

/// What the streams of answers cost a client: processor and memory of this process, in which nothing else runs. The
/// endpoint is another one.
@main
enum BenchLLM {
    static let command = Command(
        "bench-llm",
        "asks a model many times at once and measures itself",
        options: [
            .value("url", "URL", "the endpoint's address, ending in /v1", default: "http://127.0.0.1:9009/v1"),
            .value("model", "NAME", "the model", default: "fake/clock?n=40&ms=250"),
            .value("streams", "N", "requests at a time", default: "500"),
        ]
    )

    static func main() async throws {
        let options = try command.parse(Array(CommandLine.arguments.dropFirst()))
        let streams = try options.integer("streams", in: 1...4096) ?? 500
        let endpoint = try Endpoint(url: options.value("url") ?? "", model: options.value("model") ?? "")
        let client = LLMClient([endpoint], concurrency: streams)
        let startMegabytes = peakMegabytes()
        let before = processorSeconds()
        let start = ContinuousClock.now
        let pieces = Pieces(round: streams)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<streams {
                group.addTask {
                    for try await event in client.stream(ChatRequest([ChatMessage(.user, "go")])) {
                        if case .text = event { pieces.add(at: processorSeconds) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let (chunks, steady) = pieces.taken
        let elapsed = (ContinuousClock.now - start).components
        let seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
        let whole = (processorSeconds() - before) * 1e6 / Double(max(chunks, 1))
        printOutput(
            #"{"chunks": \#(chunks), "seconds": \#(seconds), "cpu_us_chunk": \#(steady), "whole_us_chunk": \#(whole), "#
                + #""start_MB": \#(startMegabytes), "peak_MB": \#(peakMegabytes())}"#
        )
    }

    /// Of all threads, since the start.
    private static func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The most resident memory that this program has had; not what its parent had before it.
    private static func peakMegabytes() -> Double {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return (Double(text.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") ?? 0) / 1024
        }
        return 0
    }
}

/// Counts pieces, and what they cost when all streams are under way: without the connections at the start, and without the
/// end, when fewer and fewer are left.
private final class Pieces: Sendable {
    private struct State {
        var count = 0
        var rounds: [Double] = []
    }
    private let state = Mutex(State())
    private let round: Int

    /// - Parameter round: how many pieces are one for each stream.
    init(round: Int) { self.round = round }

    func add(at seconds: () -> Double) {
        state.withLock { state in
            state.count += 1
            if state.count % round == 0 { state.rounds.append(seconds()) }
        }
    }

    /// How many there were, and microseconds of processor time of one in the middle.
    var taken: (count: Int, microseconds: Double) {
        state.withLock { state in
            let last = state.rounds.count - 3
            guard last > 2 else { return (state.count, 0) }
            return (state.count, (state.rounds[last] - state.rounds[2]) * 1e6 / Double((last - 2) * round))
        }
    }
}
