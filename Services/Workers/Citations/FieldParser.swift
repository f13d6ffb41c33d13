internal import Text

/// Tells author, year and title of a reference apart where its form leaves no doubt: APA, GB/T 7714, IEEE, and a Chinese
/// book by its title marks. Of any other it tells nothing.
enum FieldParser {
    static func fields(of written: String) -> Reference.Fields {
        let text = written.trimmingPeriods
        let forms: [(String) -> Reference.Fields?] = [byYearInBrackets, byKind, byQuotes, byTitleMarks]
        for form in forms {
            if let fields = form(text), fields.isEnough { return fields }
        }
        return Reference.Fields()
    }

    /// Lamport, L. (1978). Time, clocks, and the ordering of events. Communications of the ACM, 21(7), 558-565
    private static func byYearInBrackets(_ text: String) -> Reference.Fields? {
        guard let match = text.wholeMatch(of: /(.{2,300}?)\s*[(（]((?:1[5-9]|20)[0-9]{2})[a-z]?[)）][.,．，]?\s*(.+)/)
        else {
            return nil
        }
        let rest = String(match.3)
        let cut = rest.firstMatch(of: /[.?!．。]\s+/)
        let title = cut.map { String(rest[..<$0.range.lowerBound]) } ?? rest
        let container = cut.map { String(rest[$0.range.upperBound...]) } ?? ""
        return fields(String(match.1), String(match.2), title, container)
    }

    /// 张三, 李四. 题名[J]. 软件学报, 2020, 31(2): 1-5
    private static func byKind(_ text: String) -> Reference.Fields? {
        let pattern = /(.{2,200}?)[.．]\s*([^.．]{2,300}?)\s*[\[［][A-Z]{1,3}(?:\/[A-Z]{2})?[\]］][.．,，]?\s*(.*)/
        guard let match = text.wholeMatch(of: pattern) else { return nil }
        let container = String(match.3)
        return fields(String(match.1), year(in: container), String(match.2), container)
    }

    /// L. Lamport, "Time, clocks, and the ordering of events," Commun. ACM, vol. 21, 1978
    private static func byQuotes(_ text: String) -> Reference.Fields? {
        guard let match = text.wholeMatch(of: /(.{2,200}?)[,.]\s*["“]([^"“”]{3,300}?)[,.]?["”][,.]?\s*(.+)/) else {
            return nil
        }
        let container = String(match.3)
        return fields(String(match.1), year(in: container), String(match.2), container)
    }

    /// 余华《活着》，作家出版社，2012
    private static func byTitleMarks(_ text: String) -> Reference.Fields? {
        guard let match = text.wholeMatch(of: /([^《》]{2,60}?)[，,：:.．]?\s*《([^《》]{1,100})》[，,.．。]?\s*(.*)/) else {
            return nil
        }
        let container = String(match.3)
        return fields(String(match.1), year(in: container), String(match.2), container)
    }

    private static func fields(_ authors: String, _ year: String, _ title: String, _ container: String) -> Reference
        .Fields?
    {
        // Names have no figures; 三 of 张三 is none.
        guard !authors.unicodeScalars.contains(where: { Script.isDigit($0.value) }) else { return nil }
        var fields = Reference.Fields()
        fields.authors = names(in: authors)
        fields.year = year
        fields.title = title.trimmingMarks
        fields.container = container.trimmingMarks
        return fields.authors.isEmpty ? nil : fields
    }

    private static func year(in text: String) -> String {
        text.matches(of: /(?:^|[^0-9])((?:1[5-9]|20)[0-9]{2})(?![0-9])/).last.map { String($0.1) } ?? ""
    }

    /// The names of a list, as they are written; initials stay with their surname.
    static func names(in list: String) -> [String] {
        var text = list
        for joint in [" and ", " & ", ", and ", ", & ", "；", ";", "、", "，", " 和 "] {
            text = text.replacing(joint, with: ";")
        }
        var names: [String] = []
        for group in text.split(separator: ";") {
            for piece in group.split(separator: ",") {
                let name = piece.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                guard !name.isEmpty else { continue }
                let isInitials =
                    name.count <= 8 && name.allSatisfy { $0.isUppercase || ".- ".contains($0) }
                    && name.unicodeScalars.allSatisfy { !Script.isHan($0.value) }
                if isInitials, let last = names.last, !last.contains(",") {
                    names[names.count - 1] = "\(last), \(name)"
                } else {
                    names.append(name)
                }
            }
        }
        return names.allSatisfy { $0.count <= 60 } ? names : []
    }
}

extension String {
    /// Without white space, stops and commas at the ends.
    var trimmingMarks: String {
        var rest = self[...]
        rest = rest.drop { $0.isWhitespace }
        while let last = rest.last, last.isWhitespace || ".。．,，;；".contains(last) { rest = rest.dropLast() }
        return String(rest)
    }

    /// Without white space and full stops at the ends, but for the stop of an initial.
    var trimmingPeriods: String {
        var rest = self[...]
        rest = rest.drop { $0.isWhitespace }
        while let last = rest.last, last.isWhitespace || ".。．,，;；".contains(last) {
            if last == ".", rest.dropLast().last?.isUppercase == true { break }
            rest = rest.dropLast()
        }
        return String(rest)
    }
}
