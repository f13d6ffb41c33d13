import Testing
import Text

@Suite struct PartsTests {
    private func parts(_ text: String, _ size: Int) -> [String] {
        let bytes = Array(text.utf8)
        return TextParts.ranges(in: bytes, atMost: size).map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test func partsEndWhereReadersPause() {
        #expect(parts("", 16) == [])
        #expect(parts("short", 16) == ["short"])
        #expect(parts("aaa bbb ccc\nddd. eee fff", 16) == ["aaa bbb ccc\n", "ddd. eee fff"])
        #expect(parts("aaa bbb cc. ddd eee fff", 16) == ["aaa bbb cc. ", "ddd eee fff"])
        #expect(parts("aaa bbb ccc ddd eee fff", 16) == ["aaa bbb ccc ddd ", "eee fff"])
        #expect(parts("一二三。四五六七", 16) == ["一二三。", "四五六七"])
        #expect(parts("一二三四五六七八", 16) == ["一二三四五", "六七八"])
    }

    @Test(arguments: ["x", "中", "👍🏽", "a b", "好。", "\r\n"])
    func partsAreTheText(unit: String) {
        let text = String(repeating: unit, count: 5000)
        let found = parts(text, 1000)
        #expect(found.joined() == text)
        #expect(found.allSatisfy { $0.utf8.count <= 1000 && !$0.isEmpty })
    }

    @Test func aCancelledTaskReadsNoFurther() async {
        let document = String(repeating: "A line of text.\n\n", count: 1000)
        #expect(DocumentReader().blocks(in: document).count == 1000)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return DocumentReader().blocks(in: document).count
        }
        #expect(await task.value == 0)
    }

    @Test func manyLinesWithoutAnEmptyOneAreReadInGroups() {
        let document = String(repeating: "name: value\n", count: 5000)
        #expect(DocumentReader().blocks(in: document).count == 5000)
    }

    @Test(arguments: [
        ("hello", "helo", true), ("hello", "helllo", true), ("hello", "hallo", true), ("hello", "ehllo", true),
        ("hello", "hello", false), ("hello", "hollx", false), ("hello", "help", false), ("ab", "ba", true),
        ("", "a", true), ("", "", false), ("abcd", "badc", false),
    ])
    func slips(_ one: String, _ other: String, _ isSlip: Bool) {
        #expect(Slip.separates(one.utf8, other.utf8) == isSlip)
        #expect(Slip.separates(Array(other.utf8), Array(one.utf8)) == isSlip)
    }
}
