internal import Material
internal import SkillKit
internal import Text
internal import Wire

/// What the user asks for: the text with its references, or what the steps before found, and the style.
struct CitationRequest {
    /// The text; empty where the steps before have only passages.
    let text: String
    /// Passages that the steps before found, in their order.
    let passages: [OutputPart]
    /// Whether the text numbers its passages itself.
    let isNumbered: Bool
    /// Whether the text is a result of steps before, which is handed on.
    let isResult: Bool
    let style: Citations.Style
    /// The style that was named, where it is more than the two that there are.
    let namedStyle: String?
    /// Whether the user speaks Chinese.
    let isChinese: Bool

    private static let instruction = Instruction(asking: [
        "cite", "citation", "reference", "bibliograph", "source", "works cited", "footnote", "apa", "mla", "ieee",
        "doi",
        "引用", "参考文献", "出处", "来源", "文献", "引文", "參考文獻", "脚注",
    ])

    private static let styles: [(name: String, shown: String, style: Citations.Style)] = [
        ("apa", "APA", .authorYear), ("harvard", "Harvard", .authorYear), ("chicago", "Chicago", .authorYear),
        ("mla", "MLA", .authorYear), ("哈佛", "Harvard", .authorYear), ("芝加哥", "Chicago", .authorYear),
        ("ieee", "IEEE", .numeric), ("vancouver", "Vancouver", .numeric), ("温哥华", "Vancouver", .numeric),
        ("acm", "ACM", .numeric), ("gb/t", "GB/T 7714", .numeric), ("gbt", "GB/T 7714", .numeric),
        ("国标", "GB/T 7714", .numeric),
        ("7714", "GB/T 7714", .numeric),
    ]

    /// - Throws: `SkillError`: `no_text`, `text_too_long`.
    init(_ input: SkillInput, _ arguments: Citations.Arguments) throws(SkillError) {
        passages = input.previous.flatMap { $0.output.parts.filter { $0.kind == "passage" } }
        var said = input.text
        if passages.isEmpty {
            let material = try Material(input, asking: Self.instruction, language: nil) { isChinese in
                Self.noText(isChinese: isChinese)
            }
            text = material.text
            isChinese = material.isChinese
            if let separated = input.separatedMaterial {
                said = String(Instruction.words(of: input.text, around: separated))
            } else if !input.hasSeparateMaterial {
                said = String(input.text.prefix(200))
            }
            isNumbered = false
        } else {
            let last = input.previous.last
            text = last?.output.text ?? ""
            isNumbered = last?.output.parts.contains { $0.kind == "point" } == false
            isChinese = Language.of(input.text) == .chinese
        }
        isResult = !passages.isEmpty
        let folded = Normalizer.fold(said)
        // The last one that is named: "from Chicago to IEEE".
        let named = Self.styles.compactMap { entry in
            Self.place(of: entry.name, in: folded).map { (place: $0, entry: entry) }
        }.max { $0.place < $1.place }?.entry
        let chosen = arguments.style ?? named?.style ?? .numeric
        style = chosen
        namedStyle = named.flatMap { $0.style == chosen ? $0.shown : nil }
    }

    private static func place(of name: String, in text: String) -> String.Index? {
        var found: String.Index?
        for range in text.ranges(of: name) {
            let isInside =
                range.lowerBound > text.startIndex && text[text.index(before: range.lowerBound)].isLetter
                && text[text.index(before: range.lowerBound)].isASCII
            let follows =
                range.upperBound < text.endIndex && text[range.upperBound].isASCII && text[range.upperBound].isLetter
            if !isInside, !follows || !(name.last?.isASCII ?? false) { found = range.lowerBound }
        }
        return found
    }

    static func noText(isChinese: Bool) -> SkillError {
        isChinese
            ? SkillError("no_text", "没有可以整理引用的文字，内容是空的", hint: "请把文献或文章贴在请求后面，或附上一个文本文件。")
            : SkillError(
                "no_text",
                "there is no text to take references from: the input is empty",
                hint: "Paste the references or the text after the request, or attach a text file."
            )
    }
}
