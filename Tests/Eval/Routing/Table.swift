/// What is printed: a line for each measure, beside what others reach on the same data.
struct Table {
    private var hasMissed = false

    func head() {
        line("MEASURE", "HERE", "MUST", "BEST CLASSICAL", "TRANSFORMER", "")
    }

    /// A share, or several joined as one measure; percent.
    mutating func row(_ name: String, _ values: [Double], must: [Double], classical: String, transformer: String = "-")
    {
        let isMet = zip(values, must).allSatisfy { $0 * 100 >= $1 - 0.005 }
        if !isMet { hasMissed = true }
        line(
            name,
            values.map { rounded($0 * 100) }.joined(separator: " / "),
            must.map { rounded($0) }.joined(separator: " / "),
            classical,
            transformer,
            must.isEmpty ? "" : isMet ? "met" : "MISSED"
        )
    }

    /// Times, which must not be longer.
    mutating func row(_ name: String, times: [Double], unit: String, most: [Double]) {
        let isMet = zip(times, most).allSatisfy { $0 <= $1 }
        if !isMet { hasMissed = true }
        line(
            name,
            times.map { rounded($0) }.joined(separator: " / ") + " \(unit)",
            most.map { rounded($0) }.joined(separator: " / "),
            "",
            "",
            isMet ? "met" : "MISSED"
        )
    }

    private func rounded(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private func line(_ columns: String...) {
        let widths = [52, 24, 20, 20, 16, 8]
        print(
            zip(columns, widths).map { text, width in text + String(repeating: " ", count: max(1, width - text.count)) }
                .joined()
        )
    }
}
