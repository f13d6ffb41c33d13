import Glibc
import LLM
import TestSupport

/// What a streamed chunk costs a client: the processor's time of the whole process, which also plays the server here.
@main
enum BenchLLM {
    static func main() async throws {
        let streams = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 20
        let chunks = 5000
        let chunk =
            #"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764489600,"model":"small","#
            + (#""system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"#
                + (#""finish_reason":null}]}"# + "\n\n"))
        let bytes = Array(chunk.utf8)
        let server = try ScriptedServer { _, connection in
            connection.startStream()
            for _ in 0..<chunks { connection.send(bytes) }
            connection.send("data: [DONE]\n\n")
        }
        let client = LLMClient([try Endpoint(url: server.url + "/v1", model: "small")], concurrency: streams)
        let before = usage()
        let start = ContinuousClock.now
        let received = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<streams {
                group.addTask {
                    var count = 0
                    do {
                        for try await event in client.stream(ChatRequest([ChatMessage(.user, "go")])) {
                            if case .text = event { count += 1 }
                        }
                    } catch { print("failed: \(error)") }
                    return count
                }
            }
            var sum = 0
            for await count in group { sum += count }
            return sum
        }
        let wall = ContinuousClock.now - start
        let after = usage()
        guard received == streams * chunks else { throw Missing(got: received, of: streams * chunks) }
        let microseconds = (after.seconds - before.seconds) * 1e6 / Double(received)
        print("\(received) chunks in \(wall): \(microseconds) us of processor time each, \(after.megabytes) MB at most")
    }

    struct Missing: Error {
        var got: Int
        var of: Int
    }

    private static func usage() -> (seconds: Double, megabytes: Int) {
        var usage = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss / 1024)
    }
}
