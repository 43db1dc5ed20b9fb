import Foundation
import Logging
import ProcessEvents
import PushCore
import SystemPackage

/// The log of a process on standard error: lines for people, or one JSON object per line for programs (`log.format`).
enum ProcessLog {
    /// A logger with the level of the settings.
    ///
    /// - Parameters:
    ///   - process: supervisor, web, feedback or mta-child.
    ///   - child: the id of an MTA child, as `pushmta.mta_child` and `pushmta status` show it.
    ///   - context: metadata of the lines that becomes known later.
    static func logger(
        _ process: String,
        child: Int64? = nil,
        _ settings: Settings,
        context: LogContext? = nil
    ) -> Logger {
        var handler = ProcessLogHandler(
            process: process,
            host: ProcessInfo.processInfo.hostName,
            format: settings.log.format == "json" ? .json : .text
        )
        handler.metadataProvider = context?.provider
        var logger = Logger(label: process) { [handler] _ in handler }
        logger.logLevel = Logger.Level(rawValue: settings.log.level) ?? .info
        if let child { logger[metadataKey: "child"] = "\(child)" }
        return logger
    }

    /// The time format of every log line: RFC 3339, UTC, with milliseconds.
    static func time(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

/// Writes each log line with its metadata under stable keys.
///
/// JSON keys: time, level, process, pid, host and message are always present and come first. application, account,
/// delivery, child and event follow if they are known, then the other keys of the event in alphabetical order. Ids
/// and counts are numbers. The format for people has the same in another order: `TIME LEVEL PROCESS[PID]: MESSAGE
/// [child=12 application=shop-ios …]`.
struct ProcessLogHandler: LogHandler {
    enum Format: Sendable {
        case text
        case json
    }

    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let process: String
    private let host: String
    private let format: Format
    private let output: FileDescriptor

    /// Keys that precede the others, if they are known.
    private static let stable = ["application", "account", "delivery", "child", "event"]
    private static let fixed: Set<String> = ["time", "level", "process", "pid", "host", "message"]

    init(process: String, host: String, format: Format, output: FileDescriptor = .standardError) {
        self.process = process
        self.host = host
        self.format = format
        self.output = output
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = line(event, at: Date())
        line.append(UInt8(ascii: "\n"))
        // One write per line, so that lines of several processes do not mix. If no one reads it, the line is lost.
        _ = try? line.withContiguousStorageIfAvailable { try output.writeAll($0) }
    }

    /// The line of an event, without its newline.
    func line(_ event: LogEvent, at time: Date) -> [UInt8] {
        let values = values(event)
        switch format {
        case .json: return Self.json(fixedValues(event, time) + values)
        case .text: return Array(text(event, time, values).utf8)
        }
    }

    /// The metadata besides the fixed keys, stable ones first.
    private func values(_ event: LogEvent) -> [(String, String)] {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let known = Self.stable.filter { all[$0] != nil }
        let others = all.keys.filter { !Self.stable.contains($0) && !Self.fixed.contains($0) }.sorted()
        return (known + others).map { ($0, "\(all[$0] ?? "")") }
    }

    private func fixedValues(_ event: LogEvent, _ time: Date) -> [(String, String)] {
        [
            ("time", ProcessLog.time(time)), ("level", event.level.rawValue), ("process", process),
            ("pid", "\(getpid())"), ("host", host), ("message", event.message.description),
        ]
    }

    private static func json(_ values: [(String, String)]) -> [UInt8] {
        var output = [UInt8(ascii: "{")]
        for (key, value) in values {
            if output.count > 1 { output.append(UInt8(ascii: ",")) }
            JSONText.appendString(key, to: &output)
            output.append(UInt8(ascii: ":"))
            if ProcessEvent.numberKeys.contains(key), isNumber(value) {
                output.append(contentsOf: value.utf8)
            } else {
                JSONText.appendString(value, to: &output)
            }
        }
        output.append(UInt8(ascii: "}"))
        return output
    }

    /// Whether a text is a valid JSON number. Anything else stays a string, so that every line can be parsed.
    private static func isNumber(_ text: String) -> Bool {
        text.wholeMatch(of: #/-?(0|[1-9][0-9]*)(\.[0-9]+)?/#) != nil
    }

    private func text(_ event: LogEvent, _ time: Date, _ values: [(String, String)]) -> String {
        let keys = values.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
        // A newline in text from elsewhere would fake a line of our own.
        let message = event.message.description.split(whereSeparator: \.isNewline).joined(separator: " ")
        return "\(ProcessLog.time(time)) \(event.level.rawValue) \(process)[\(getpid())]: \(message)"
            + (keys.isEmpty ? "" : " [\(keys)]")
    }
}
