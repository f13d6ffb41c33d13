/// Rows with columns that line up. The last column is not padded.
struct Table {
    private var rows: [[String]]
    private let header: [String]

    init(_ header: [String]) {
        self.header = header
        rows = []
    }

    /// Adds a row; control characters are made harmless.
    mutating func add(_ cells: [String]) { rows.append(cells.map(Terminal.line)) }

    var isEmpty: Bool { rows.isEmpty }

    /// The lines.
    func lines(_ style: Style, columns: Int? = nil) -> [String] {
        let count = header.count
        let widths = (0..<count).map { column in
            ([header] + rows).map { column < $0.count ? Terminal.width($0[column]) : 0 }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            let padded = cells.enumerated().map { column, cell in
                column == cells.count - 1 ? cell : Terminal.padded(cell, to: widths[column])
            }
            let line = padded.joined(separator: "  ")
            return columns.map { Terminal.fitted(line, to: $0) } ?? line
        }
        return [style.bold(line(header))] + rows.map(line)
    }
}
