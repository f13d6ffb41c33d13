import FoundationEssentials
import HTTPServer
import Testing
import Wire

@testable import Gateway

@Suite struct LargeContentsTests {
    private func body(_ json: String) throws -> HTTPRequest {
        try HTTPRequest(
            "POST",
            "/",
            headers: ["Content-Type": "application/json"],
            body: HTTPBody(Array(json.utf8))
        )
    }

    private func content(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }) }

    @Test(arguments: [30_000, 30_001, 30_002])
    func largeFilesAreTheSameAsSmallOnes(size: Int) async throws {
        let (large, small) = (content(size), content(100))
        let request = try body(
            #"""
            {"text": "a \" ] } text", "attachments": [
                {"name": "small", "data": "\#(small.base64EncodedString())"},
                {"data": "\#(large.base64EncodedString())", "name": "one"},
                {"name": "two", "mediaType": "x/y", "data": "\#(large.base64EncodedString())"}
            ], "arguments": {"data": "x"}}
            """#
        )
        let read = try await RequestBody.read(request)
        #expect(read.attachments.map(\.name) == ["small", "one", "two"])
        #expect(read.attachments.map(\.data) == [[UInt8](small), [UInt8](large), [UInt8](large)])
        #expect(read.text == #"a " ] } text"# && read.arguments == ["data": "x"])
        // It was taken away, so that it is not there beside its contents.
        #expect(request.body.bytes.isEmpty)
    }

    @Test func onlyFilesAreTakenOut() {
        let text = String(repeating: "AAAA", count: 10_000)
        for json in [
            #"{"data":"\#(text)"}"#, #"[{"data":"\#(text)"}]"#, #"{"x":[{"data":["\#(text)"]}]}"#,
            #"{"attachments":[{"name":"\#(text)"}]}"#, #"{"attachments":[{"data":"\#(text)A"}]}"#,
            #"{"attachments":[{"data":"\#(text)\/\/"}]}"#, #"{"attachments":[{"data":"\#(text)=AAA"}]}"#,
            #"{"attachments":[{"data":"\#(text)"#, String(repeating: "[", count: 100_000),
        ] {
            #expect(LargeContents(of: Array(json.utf8)).json == Array(json.utf8))
        }
    }

    @Test func escapesThatSomeWritersMakeAreRead() async throws {
        let large = content(30_000)
        let escaped = large.base64EncodedString().replacing("/", with: #"\/"#)
        let read = try await RequestBody.read(
            try body(#"{"text":"t","attachments":[{"name":"n","data":"\#(escaped)"}]}"#)
        )
        #expect(read.attachments.map(\.data) == [[UInt8](large)])
    }
}
