import Glibc
import LibFuzzer
import Testing

private func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

private let fuzzTarget = variable("FUZZ_TARGET").flatMap(FuzzTarget.init(rawValue:))

/// The fuzzer itself: `make fuzz` runs this test once for each target, in a build that has libFuzzer. The variable
/// `FUZZ_TARGET` names the target, `FUZZ_ARGUMENTS` has libFuzzer's options and folders, with spaces between.
@Suite(.enabled(if: libfuzzer_is_linked() && fuzzTarget != nil)) struct FuzzRun {
    @Test func run() {
        let words = ["fuzz"] + (variable("FUZZ_ARGUMENTS") ?? "").split(separator: " ").map(String.init)
        // For as long as the process lives: it ends in here.
        let arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>>.allocate(capacity: words.count + 1)
        for (place, word) in words.enumerated() {
            if let copy = strdup(word) { (arguments + place).initialize(to: copy) }
        }
        libfuzzer_run(Int32(words.count), arguments) { bytes, count in
            do {
                try fuzzTarget?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
            } catch {
                // The fuzzer takes this end of the process for a finding, and keeps the input.
                fatalError("\(error)")
            }
            return 0
        }
    }
}
