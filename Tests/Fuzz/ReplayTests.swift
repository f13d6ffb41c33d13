import FoundationEssentials
import Testing

/// What the fuzzers start from, and what they have found (`found-...`): each input as it is, and cut in the middle.
@Suite struct ReplayTests {
    @Test(arguments: FuzzTarget.allCases) func theCorpusIsReadOrRefused(target: FuzzTarget) throws {
        let folder = "\(#filePath.dropLast("ReplayTests.swift".count))Corpus/\(target.rawValue)"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(!names.isEmpty)
        for name in names.sorted() {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
            #expect(throws: Never.self, "\(name)") { try target.run(bytes) }
            #expect(throws: Never.self, "half of \(name)") { try target.run(Array(bytes.prefix(bytes.count / 2))) }
        }
    }
}
