internal import FoundationEssentials

/// A number that does not fit its field, such as 1.5 where an integer belongs. Foundation calls the whole document
/// invalid then, and names no field; it is found by trying what is left of the error without one number or another.
struct UnfitNumber {
    /// Where it stands, as people write it.
    let path: String
    /// The number.
    let value: JSONValue

    /// A step into a value.
    private enum Step {
        case name(String)
        case index(Int)
    }

    /// More candidates than this are not tried.
    private static let candidates = 64

    /// The number in a document because of which it cannot be decoded; nil if it fails for another reason.
    init?<Value: Decodable>(in document: Data, for type: Value.Type) {
        guard document.count <= 1024 * 1024, var whole = try? JSONDecoder().decode(JSONValue.self, from: document)
        else {
            return nil
        }
        var found: [(steps: [Step], value: JSONValue)] = []
        UnfitNumber.collect(whole, [], &found)
        for (steps, value) in found.prefix(UnfitNumber.candidates) {
            whole = UnfitNumber.replacing(whole, steps[...])
            guard let changed = try? JSONEncoder().encode(whole) else { return nil }
            do {
                _ = try JSONDecoder().decode(type, from: changed)
            } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
                continue
            } catch {}
            path = UnfitNumber.text(steps)
            self.value = value
            return
        }
        return nil
    }

    private static func collect(_ value: JSONValue, _ steps: [Step], _ found: inout [(steps: [Step], value: JSONValue)])
    {
        switch value {
        case .number: found.append((steps, value))
        case .integer(let number) where number < 0 || number > Int64(UInt8.max): found.append((steps, value))
        case .array(let elements):
            for (index, element) in elements.enumerated() { collect(element, steps + [.index(index)], &found) }
        case .object(let members):
            for name in members.keys.sorted() {
                if let member = members[name] { collect(member, steps + [.name(name)], &found) }
            }
        default: break
        }
    }

    private static func replacing(_ value: JSONValue, _ steps: ArraySlice<Step>) -> JSONValue {
        switch (steps.first, value) {
        case (nil, _): return 0
        case (.index(let index), .array(var elements)) where elements.indices.contains(index):
            elements[index] = replacing(elements[index], steps.dropFirst())
            return .array(elements)
        case (.name(let name), .object(var members)):
            members[name] = members[name].map { replacing($0, steps.dropFirst()) }
            return .object(members)
        default: return value
        }
    }

    private static func text(_ steps: [Step]) -> String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .name(let name): text += text.isEmpty ? name : ".\(name)"
            case .index(let index): text += "[\(index)]"
            }
        }
    }
}

extension UnfitNumber: CustomStringConvertible {
    var description: String {
        let text =
            switch value {
            case .integer(let value): "\(value)"
            case .number(let value): "\(value)"
            default: "?"
            }
        return "\(path.isEmpty ? "the top level" : "\"\(path)\"") is \(text), which is not an integer that fits there"
    }
}
