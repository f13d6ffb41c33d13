import TestSupport
import Testing

@testable import DocumentIndex

@Suite struct DocumentIndexTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("state/knowledge.sqlite") }

    init() async throws {
        folder = try TemporaryFolder()
        _ = try await run("/bin/mkdir", ["-p", folder.file("docs/sub")])
    }

    private func index() throws -> DocumentIndex.Report {
        try DocumentIndex.Writer(path: path).index(folder: folder.file("docs"))
    }

    @Test func indexesAFolderAndFindsPassages() throws {
        try folder.write(
            "docs/refunds.md",
            "# Refund policy\n\n## Deadlines\n\nRefunds are paid within fourteen days.\n"
        )
        try folder.write("docs/sub/raft.txt", "Raft elects a leader by votes of a majority of servers.")
        try folder.write(
            "docs/page.html",
            "<html><title>Leave</title><body><script>var x = 'refunds';</script><p>Parental leave lasts 12&nbsp;weeks.</p></body>"
        )
        try folder.write("docs/请假.md", "# 请假制度\n\n年假每年十五天，须提前一周申请。")
        try folder.write("docs/notes.bin", "refunds")
        let report = try index()
        #expect(report.added == 4)
        #expect(report.skipped.isEmpty)

        let reader = try DocumentIndex.Reader(path: path)
        #expect(try reader.documentCount() == 4)
        let refund = try #require(try reader.search("how long does a refund take").first)
        #expect(refund.source.hasSuffix("docs/refunds.md"))
        #expect(refund.title == "Refund policy › Deadlines")
        #expect(refund.snippet.contains("fourteen days"))
        #expect(try reader.search("parental leave").first?.title == "Leave")
        #expect(try reader.search("年假有几天").first?.source.hasSuffix("请假.md") == true)
        #expect(try reader.search("majority votes", folder: folder.file("docs/sub")).count == 1)
        #expect(try reader.search("refunds", folder: folder.file("docs/sub")).isEmpty)
        #expect(try reader.search("zeppelin").isEmpty)
    }

    @Test func followsChangesOfTheFolder() async throws {
        try folder.write("docs/a.txt", "The old text about zebras.")
        try folder.write("docs/b.txt", "Another text about giraffes.")
        #expect(try index().added == 2)
        #expect(try index() == DocumentIndex.Report(unchanged: 2))

        try folder.write("docs/a.txt", "A new and longer text about elephants.")
        _ = try await run("/bin/rm", [folder.file("docs/b.txt")])
        try folder.write("docs/c.txt", "Text about lions.")
        let report = try index()
        #expect([report.added, report.updated, report.removed, report.unchanged] == [1, 1, 1, 0])
        let reader = try DocumentIndex.Reader(path: path)
        #expect(try reader.search("zebras").isEmpty)
        #expect(try reader.search("giraffe").isEmpty)
        #expect(try reader.search("elephant").count == 1)
        #expect(try reader.search("lion").count == 1)
    }

    @Test func aReaderSeesWhatIsCommittedLater() throws {
        try folder.write("docs/a.txt", "First text.")
        _ = try index()
        let reader = try DocumentIndex.Reader(path: path)
        #expect(try reader.search("giraffes").isEmpty)
        try folder.write("docs/b.txt", "Another text is here, about giraffes.")
        _ = try index()
        #expect(try reader.search("giraffe text").first?.source.hasSuffix("b.txt") == true)
        #expect(reader.isCurrent)
    }

    @Test func onlyOneWriter() throws {
        let writer = try DocumentIndex.Writer(path: path)
        #expect(throws: IndexError.busy(path: path)) { try DocumentIndex.Writer(path: path) }
        #expect(descriptorsOfOthersClosed { _ = try? DocumentIndex.Writer(path: path) } == 0)
        withExtendedLifetime(writer) {}
    }

    @Test func keepsTheFileToItsOwner() async throws {
        _ = try index()
        let mode = try await run("/usr/bin/stat", ["-c", "%a", path])
        #expect(mode.output.contains("600"))
    }

    @Test func saysWhatIsMissing() throws {
        #expect(throws: IndexError.notFound(path: path)) { try DocumentIndex.Reader(path: path) }
        let writer = try DocumentIndex.Writer(path: path)
        #expect(throws: IndexError.self) { try writer.index(folder: folder.file("nowhere")) }
        try folder.write("other.sqlite", "this is no database at all, but a text that is long enough to be read as one")
        #expect(throws: IndexError.self) { try DocumentIndex.Reader(path: folder.file("other.sqlite")) }
    }

    @Test func stopsWhenToldAndGoesOnLater() throws {
        for number in 0..<5 { try folder.write("docs/\(number).txt", "Document number \(number).") }
        let writer = try DocumentIndex.Writer(path: path)
        let first = try writer.index(folder: folder.file("docs")) { $0.done < 2 }
        #expect(first.added == 2)
        let second = try writer.index(folder: folder.file("docs"))
        #expect([second.added, second.unchanged] == [3, 2])
    }

    @Test func readsOtherEncodingsAndSkipsWhatIsNoText() async throws {
        let encoded = folder.file("docs/gb.txt")
        _ = try await run("/bin/sh", ["-c", "printf '数据库索引' | iconv -f UTF-8 -t GB18030 > \(encoded)"])
        _ = try await run(
            "/bin/sh",
            ["-c", "printf 'caf\\303\\251 terrace' | iconv -f UTF-8 -t UTF-16 > \(folder.file("docs/u16.txt"))"]
        )
        _ = try await run("/bin/sh", ["-c", "printf 'a\\000b\\000' > \(folder.file("docs/zero.txt"))"])
        try folder.write("docs/empty.txt", "")
        let report = try index()
        #expect(
            report.skipped.map(\.path) == [folder.file("docs/zero.txt")].map { $0.replacing("/tmp/", with: "/tmp/") }
        )
        let reader = try DocumentIndex.Reader(path: path)
        #expect(try reader.search("数据库").count == 1)
        #expect(try reader.search("café").count == 1)
    }

    @Test(arguments: [
        ("multi-agent", "d1"), ("AND OR NOT", "d2"), ("foo(bar) \"quotes a* -wild", "d3"), ("海淀", "d4"), ("梨", "d5"),
        ("BENCH-100821", "d6"),
        ("@nasa 50% C++", "d6"), ("苹果手机", "d5"), ("ops@example.org", "d6"), ("PLANNERS assigned TASK", "d1"),
        ("北京大学", "d4"),
    ])
    func queriesAreText(_ query: String, _ expected: String) throws {
        let reader = try DocumentIndex.Reader(documents: [
            .init(source: "d1", text: "The multi-agent planner assigns tasks."),
            .init(source: "d2", text: "Use AND, OR and NOT gates in logic."),
            .init(source: "d3", text: "Call foo(bar) with \"quotes\" and a* wildcards."),
            .init(source: "d4", text: "北京大学位于海淀区。"),
            .init(source: "d5", text: "苹果公司发布新手机。我爱吃梨。"),
            .init(
                source: "d6",
                text: "Order BENCH-100821 shipped; contact @nasa or ops@example.org about C++ and 50% off."
            ),
        ])
        #expect(try reader.search(query).first?.source == expected)
    }

    @Test func hostileQueriesAreHarmless() throws {
        let reader = try DocumentIndex.Reader(documents: [.init(source: "d1", text: "hello world")])
        #expect(try reader.search("'; DROP TABLE documents; --").isEmpty)
        #expect(try reader.search("\"\"\" hello").count == 1)
        #expect(throws: IndexError.emptyQuery) { try reader.search("   ") }
        #expect(throws: IndexError.emptyQuery) { try reader.search("?!“”") }
        #expect(try reader.search(String(repeating: "hello unknownword ", count: 5000)).count == 1)
    }

    @Test func passagesAreCutAlongParagraphs() {
        let sentence = "This sentence has some words in it and goes on for a while. "
        let long = String(repeating: sentence, count: 60)
        let sections = [
            DocumentText.Section(heading: "One", text: "Short.\n\nAlso short."),
            DocumentText.Section(heading: "Two", text: long),
            DocumentText.Section(heading: "Three", text: String(repeating: "x", count: 5000)),
        ]
        let passages = PassageSplitter.split(sections)
        #expect(passages.first == PassageSplitter.Passage(heading: "One", text: "Short.\n\nAlso short."))
        #expect(passages.allSatisfy { $0.text.utf8.count <= 1300 })
        let two = passages.filter { $0.heading == "Two" }
        #expect(two.count >= 3)
        #expect(two.map(\.text).joined(separator: " ").filter { $0 != " " } == long.filter { $0 != " " })
        #expect(passages.filter { $0.heading == "Three" }.map(\.text.utf8.count).reduce(0, +) >= 5000)
    }

    @Test func markdownLosesItsMarkup() {
        let text = DocumentText.markdown(
            "---\ntitle: \"The guide\"\n---\n# Start\nSee [the docs](http://x.y) and **this** `code`.\n\n```\n# no heading\n```\n",
            title: "f"
        )
        #expect(text.title == "The guide")
        #expect(text.sections.map(\.heading) == ["Start"])
        #expect(text.sections.first?.text.contains("See the docs and this code.") == true)
        #expect(text.sections.first?.text.contains("# no heading") == true)
    }

    @Test(arguments: [
        "<", "<a", "<script>", "&#x110000;", "&", "a < b && c > d", "<!-- open", "</", "<title>",
        String(repeating: "<p", count: 9999),
    ])
    func brokenHTMLIsSurvived(_ text: String) { _ = DocumentText.html(text, title: "t") }
}
