internal import Glibc

/// The log of a process: one JSON object a line on standard error, written whole, from any thread.
///
///     {"time":"2026-11-30T08:00:00.123Z","level":"info","service":"router","message":"listening","port":5555}
///
/// What users write never goes into it: fields are ids, names, counts and error codes.
public struct Log: Sendable {
    /// How much a line matters.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// For those who look for a fault.
        case debug
        /// What an operator wants to see of normal work.
        case info
        /// Something is wrong, and the process copes.
        case warning
        /// Something is lost or cannot be done.
        case error

        /// Orders by weight.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        /// Reads the value of `SKILLBUS_LOG`; nil for a word that is no level.
        public init?(name: String) {
            switch name.lowercased() {
            case "debug": self = .debug
            case "info": self = .info
            case "warning", "warn": self = .warning
            case "error": self = .error
            default: return nil
            }
        }
    }

    /// A value of a field.
    public enum Value: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
        ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
    {
        /// Text; cut after 1000 bytes.
        case text(String)
        /// A whole number.
        case number(Int)
        /// A truth value.
        case bool(Bool)

        /// Text.
        public init(stringLiteral value: String) { self = .text(value) }
        /// A whole number.
        public init(integerLiteral value: Int) { self = .number(value) }
        /// A truth value.
        public init(booleanLiteral value: Bool) { self = .bool(value) }
    }

    /// Who writes: `router`, `gateway`, a worker's name.
    public let service: String
    /// Lines below this are not written.
    public let level: Level
    private let write: @Sendable (String) -> Void
    private let limit = RepeatLimit()

    /// A log on standard error. Its level is that of `SKILLBUS_LOG` (debug, info, warning, error) unless given; info if
    /// neither is there.
    public init(service: String, level: Level? = nil) {
        self.init(service: service, level: level) { line in
            var line = line
            line.withUTF8 { bytes in
                // One write, so that lines of several threads and processes do not mix.
                _ = Glibc.write(2, bytes.baseAddress, bytes.count)
            }
        }
    }

    /// A log whose lines, each with its line feed, go to a function.
    public init(service: String, level: Level? = nil, to write: @escaping @Sendable (String) -> Void) {
        self.service = service
        self.level = level ?? Log.levelOfEnvironment
        self.write = write
    }

    private static let levelOfEnvironment: Level =
        getenv("SKILLBUS_LOG").flatMap { Level(name: String(cString: $0)) } ?? .info

    /// For those who look for a fault.
    public func debug(
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> KeyValuePairs<String, Value> = [:]
    ) {
        log(.debug, message(), fields())
    }

    /// Normal work.
    public func info(
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> KeyValuePairs<String, Value> = [:]
    ) {
        log(.info, message(), fields())
    }

    /// Something is wrong, and the process copes.
    public func warning(
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> KeyValuePairs<String, Value> = [:]
    ) {
        log(.warning, message(), fields())
    }

    /// Something is lost or cannot be done.
    public func error(
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> KeyValuePairs<String, Value> = [:]
    ) {
        log(.error, message(), fields())
    }

    /// Writes a line, unless its level is too low; then neither message nor fields are made. Of a warning or an error
    /// that comes again and again, as what strangers send can bring about, some are left out; the next one that is
    /// written has their number as `suppressed`.
    public func log(
        _ level: Level,
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> KeyValuePairs<String, Value> = [:]
    ) {
        guard level >= self.level else { return }
        let message = message()
        var suppressed = 0
        if level >= .warning {
            guard let count = limit.admit(message, at: .now) else { return }
            suppressed = count
        }
        var line = "{\"time\":\"\(Timestamp.now)\",\"level\":\"\(level)\",\"service\":"
        Log.append(service, to: &line)
        line += ",\"message\":"
        Log.append(message, to: &line)
        if suppressed > 0 { line += ",\"suppressed\":\(suppressed)" }
        for (name, value) in fields() {
            line += ","
            Log.append(name, to: &line)
            line += ":"
            switch value {
            case .text(let text): Log.append(text, to: &line)
            case .number(let number): line += String(number)
            case .bool(let value): line += value ? "true" : "false"
            }
        }
        write(line + "}\n")
    }

    private static func append(_ text: String, to line: inout String) {
        line += "\""
        for scalar in text.unicodeScalars.prefix(1000) {
            switch scalar {
            case "\"": line += "\\\""
            case "\\": line += "\\\\"
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let hex = String(scalar.value, radix: 16)
                line += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: line.unicodeScalars.append(scalar)
            }
        }
        line += "\""
    }
}
