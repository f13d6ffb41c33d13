internal import CLinux
internal import Glibc
internal import Synchronization

/// One option of a command: parsing, help and completion all come from this.
public struct Option: Sendable {
    /// Long name, without dashes.
    public let name: String
    /// One-letter name.
    public let short: Character?
    /// What the value is, for help; nil for a switch.
    public let value: String?
    /// One line for help.
    public let help: String
    /// Environment variable that gives the value when the option is absent.
    public let environment: String?
    /// Value when neither is there.
    public let fallback: String?

    /// An option that takes a value.
    public static func value(
        _ name: String,
        short: Character? = nil,
        _ value: String,
        _ help: String,
        environment: String? = nil,
        default fallback: String? = nil
    ) -> Option {
        Option(
            name: name,
            short: short,
            value: value,
            help: help,
            environment: environment,
            fallback: fallback
        )
    }

    /// An option that is there or not. A variable counts as set unless it is empty, `0`, `false` or `no`.
    public static func flag(
        _ name: String,
        short: Character? = nil,
        _ help: String,
        environment: String? = nil
    ) -> Option {
        Option(name: name, short: short, value: nil, help: help, environment: environment, fallback: nil)
    }
}

/// A command with its options.
public struct Command: Sendable {
    /// As typed, such as `skillbus ask`.
    public let name: String
    /// One line.
    public let summary: String
    /// Operands, for help: `TEXT...`.
    public let operands: String
    /// Options.
    public let options: [Option]
    /// Further paragraphs of the help.
    public let details: String

    /// Makes a command. `--help` and, where wanted, `--version` are added by the parser.
    public init(_ name: String, _ summary: String, operands: String = "", options: [Option], details: String = "") {
        self.name = name
        self.summary = summary
        self.operands = operands
        self.options = options
        self.details = details
    }
}

/// What is wrong with a command line, in one sentence that names the option.
public struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
    /// Makes an error.
    public init(_ description: String) { self.description = description }
}

/// A parsed command line. The order of precedence is option, environment, default.
public struct ParsedOptions: Sendable {
    /// Words that are no options.
    public let operands: [String]
    /// Whether `--help` was given.
    public let wantsHelp: Bool
    /// Whether `--version` was given.
    public let wantsVersion: Bool
    private let given: [String: [String]]
    private let options: [String: Option]
    private let environment: [String: String]

    fileprivate init(
        operands: [String],
        given: [String: [String]],
        options: [Option],
        environment: [String: String]
    ) {
        self.operands = operands
        self.given = given
        self.options = Dictionary(uniqueKeysWithValues: options.map { ($0.name, $0) })
        self.environment = environment
        wantsHelp = given["help"] != nil
        wantsVersion = given["version"] != nil
    }

    /// Whether an option stands on the command line.
    public func isGiven(_ name: String) -> Bool { given[name] != nil }

    /// The value of an option; of several, the last.
    public func value(_ name: String) -> String? {
        if let last = given[name]?.last { return last }
        guard let option = options[name] else { return nil }
        if let variable = option.environment, let value = environment[variable], !value.isEmpty { return value }
        return option.fallback
    }

    /// A value that says nothing when it is empty: a name, an id.
    /// - Throws: `UsageError` that names the option.
    public func name(_ name: String) throws(UsageError) -> String? {
        guard let value = value(name) else { return nil }
        guard value.contains(where: { !$0.isWhitespace }) else {
            throw UsageError("--\(name) is empty: name one, or leave the option out")
        }
        return value
    }

    /// All values of an option that may be repeated.
    public func values(_ name: String) -> [String] {
        given[name] ?? value(name).map { [$0] } ?? []
    }

    /// Whether a switch is on.
    public func flag(_ name: String) -> Bool {
        if given[name] != nil { return true }
        guard let variable = options[name]?.environment, let value = environment[variable] else { return false }
        return !["", "0", "false", "no"].contains(value.lowercased())
    }

    /// A whole number within bounds.
    /// - Throws: `UsageError` that names the option.
    public func integer(_ name: String, in bounds: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), bounds.contains(number) else {
            throw UsageError(
                "--\(name) must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound), not \"\(text)\""
            )
        }
        return number
    }

    /// A number of seconds above zero, or zero where that means something.
    /// - Throws: `UsageError` that names the option.
    public func seconds(_ name: String, orZero: Bool = false) throws(UsageError) -> Double? {
        guard let text = value(name) else { return nil }
        guard let number = Double(text), number > 0 || orZero && number == 0, number.isFinite else {
            let bound = orZero ? "from 0 on" : "above 0"
            throw UsageError("--\(name) must be a number of seconds \(bound), not \"\(text)\"")
        }
        return number
    }
}

extension Command {
    private var allOptions: [Option] {
        options + [.flag("help", short: "h", "show this help")]
            + (name.contains(" ") ? [] : [.flag("version", "show the version")])
    }

    /// Parses words after the command's name with getopt_long of the C library.
    /// - Throws: `UsageError` naming the first option that is unknown or lacks its value.
    public func parse(
        _ arguments: [String],
        environment: [String: String] = Environment.all
    ) throws(UsageError) -> ParsedOptions {
        // The C library's parser keeps its place in global variables: one at a time.
        try Command.parser.withLock { _ throws(UsageError) in try parseAlone(arguments, environment) }
    }

    private static let parser = Mutex(())

    private func parseAlone(
        _ arguments: [String],
        _ environment: [String: String]
    ) throws(UsageError) -> ParsedOptions {
        let options = allOptions
        var words: [UnsafeMutablePointer<CChar>?] = ([name] + arguments).map { strdup($0) }
        let owned = words
        words.append(nil)
        defer { owned.forEach { free($0) } }
        var shortNames = ":"
        for case let option in options {
            if let short = option.short { shortNames += String(short) + (option.value == nil ? "" : ":") }
        }
        let names = options.map { strdup($0.name) }
        defer { names.forEach { free($0) } }
        var table = zip(options, names).enumerated().map { index, pair in
            option(
                name: UnsafePointer(pair.1),
                has_arg: pair.0.value == nil ? no_argument : required_argument,
                flag: nil,
                val: Int32(1000 + index)
            )
        }
        table.append(option(name: nil, has_arg: 0, flag: nil, val: 0))

        var given: [String: [String]] = [:]
        clinux_reset_getopt()
        let count = Int32(owned.count)
        while true {
            let found = getopt_long(count, &words, shortNames, table, nil)
            if found == -1 { break }
            let index = Int(clinux_optind())
            let word = index > 0 && index <= owned.count ? owned[index - 1].map { String(cString: $0) } ?? "" : ""
            switch found {
            case 58:  // ':' a value is missing
                throw UsageError("option \(word) needs a value; see \(name) --help")
            case 63:  // '?' unknown, ambiguous, or a value for a switch
                let letter = clinux_optopt()
                let shown = letter > 32 && letter < 127 ? "-\(Character(UnicodeScalar(UInt8(letter))))" : word
                let typed = word.prefix { $0 != "=" }
                let known = allOptions.map { "--" + $0.name }
                if word.hasPrefix("--"), word.contains("="), known.contains(String(typed)) {
                    throw UsageError("option \(typed) takes no value; see \(name) --help")
                }
                let near = word.hasPrefix("--") ? nearestName(to: String(typed), in: known) : nil
                let next = near.map { ": did you mean \($0)? See" } ?? "; see"
                throw UsageError("unknown option \(shown)\(next) \(name) --help")
            default:
                let option =
                    found >= 1000
                    ? options[Int(found) - 1000]
                    : options.first { $0.short?.asciiValue.map(Int32.init) == found }
                guard let option else { throw UsageError("unknown option \(word); see \(name) --help") }
                let value = option.value == nil ? "" : clinux_optarg().map { String(cString: $0) } ?? ""
                given[option.name, default: []].append(value)
            }
        }
        let operands = words[min(Int(clinux_optind()), owned.count)..<owned.count].compactMap {
            $0.map { String(cString: $0) }
        }
        return ParsedOptions(operands: operands, given: given, options: options, environment: environment)
    }

    /// The help text.
    public var help: String {
        var text = "\(name) - \(summary)\n\nUsage: \(name) [OPTION...]\(operands.isEmpty ? "" : " " + operands)\n"
        text += "\nOptions:\n"
        for option in allOptions {
            let short = option.short.map { "-\($0), " } ?? "    "
            let left = "  \(short)--\(option.name)\(option.value.map { " " + $0 } ?? "")"
            var right = option.help
            var sources: [String] = []
            if let variable = option.environment { sources.append("$\(variable)") }
            if let fallback = option.fallback { sources.append("default \(fallback)") }
            if !sources.isEmpty { right += " (\(sources.joined(separator: ", ")))" }
            text +=
                left.count < 30
                ? left + String(repeating: " ", count: 30 - left.count) + right
                : "\(left)\n" + String(repeating: " ", count: 30) + right
            text += "\n"
        }
        if !details.isEmpty { text += "\n\(details)\n" }
        return text
    }
}
