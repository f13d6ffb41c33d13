internal import SkillKit

/// What the skill says, in the user's language.
struct CitationWords {
    let isChinese: Bool

    var reading: String { isChinese ? "正在查找引用" : "looking for references" }
    var heading: String { isChinese ? "参考文献" : "References" }

    func telling(_ count: Int) -> String {
        isChinese ? "正在分辨 \(count) 条文献的作者、题名和年份" : "telling author, title and year of \(count) apart"
    }

    func missing(_ labels: [String]) -> String {
        let shown = labels.prefix(8).map { "[\($0)]" }.joined(separator: ", ")
        return isChinese ? "正文引用了 \(shown)，但列表中没有" : "cited in the text, but not in its list: \(shown)"
    }

    func madeUp(_ count: Int) -> String {
        isChinese
            ? "模型给出的 \(count) 个字段不在原文中，已舍去"
            : "\(count) \(count == 1 ? "field" : "fields") of the model's reading \(count == 1 ? "is" : "are") not in the "
                + "text, and left out"
    }

    func asWritten(_ count: Int) -> String {
        isChinese
            ? "\(count) 条无法可靠地分辨作者、题名和年份，保留原样"
            : "\(count) kept as written: author, title and year cannot be told apart with certainty"
    }

    func form(_ name: String, _ style: Citations.Style) -> String {
        switch style {
        case .numeric:
            isChinese ? "按顺序编码制排列；未套用 \(name) 的全部细则" : "numbered, as \(name) does; its finer rules are not applied"
        case .authorYear:
            isChinese
                ? "按著者—出版年制排列；未套用 \(name) 的全部细则"
                : "by author and year, as \(name) does; its finer rules are not applied"
        }
    }

    /// Where a reference is used.
    func uses(_ reference: Reference) -> String {
        guard !reference.uses.isEmpty else { return "" }
        let numbers = reference.uses.prefix(12).map { "\($0)" }.joined(separator: isChinese ? "、" : ", ")
        let more = reference.uses.count > 12 ? "…" : ""
        if reference.usesArePassages {
            return isChinese ? "（第 \(numbers)\(more) 段摘录）" : " (passage \(numbers)\(more))"
        }
        return isChinese ? "（用于第 \(numbers)\(more) 段）" : " (used in paragraph \(numbers)\(more))"
    }

    var nothingFound: SkillError {
        isChinese
            ? SkillError(
                "no_references",
                "没有找到可以引用的文献：没有参考文献列表、DOI、arXiv 编号、ISBN、网址或文档出处",
                hint: "请附上文献列表或网址，或先在自己的文档中查找（skillbus ask \"查一下……并标注来源\"）。"
            )
            : SkillError(
                "no_references",
                "there is nothing to cite: no list of references, DOI, arXiv id, ISBN, address or document",
                hint:
                    "Give the references or links, or let your documents be searched: \"look up ... and cite the sources\"."
            )
    }
}
