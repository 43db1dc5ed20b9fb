import Content
import PushCore

/// A subscription to import, read from one line of a file.
public struct ImportRow: Sendable {
    /// Line number in the file, for reports.
    public var line: Int
    /// The push token.
    public var pushToken: String
    /// Whose it is; "" if unknown.
    public var userKey: String
    /// Language tag, "" if unknown.
    public var locale: String
    /// IANA time zone, "" if unknown.
    public var timeZone: String
    /// Fields of the recipient, for personalisation.
    public var recipient: [String: String]
    /// Parameters of the subscription.
    public var parameters: [String: String]

    /// A subscription of a line.
    public init(
        line: Int,
        pushToken: String,
        userKey: String = "",
        locale: String = "",
        timeZone: String = "",
        recipient: [String: String] = [:],
        parameters: [String: String] = [:]
    ) {
        self.line = line
        self.pushToken = pushToken
        self.userKey = userKey
        self.locale = locale
        self.timeZone = timeZone
        self.recipient = recipient
        self.parameters = parameters
    }
}

extension ImportRow {
    /// The row with its parameters where the application's declarations keep them.
    func placed(by declarations: ApplicationDeclarations) -> ImportRow {
        guard !declarations.parameters.isEmpty else { return self }
        var row = self
        row.parameters = [:]
        for (column, value) in declarations.place(parameters) {
            switch column {
            case .userKey: row.userKey = value
            case .locale: row.locale = value
            case .timeZone: row.timeZone = value
            case .recipient(let name): row.recipient[name] = value
            case .parameter(let name): row.parameters[name] = value
            }
        }
        return row
    }
}

/// Subscriptions in the text format of COPY.
enum ImportLines {
    /// Bytes of a chunk: above the 64 KiB from which COPY is quick.
    private static let chunkSize = 256 * 1024

    static func copyText(_ rows: [ImportRow]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(rows.count * 200)
        for row in rows {
            append(String(row.line), to: &output, end: tab)
            append(row.pushToken, to: &output, end: tab)
            append(row.userKey, to: &output, end: tab)
            append(row.locale, to: &output, end: tab)
            append(row.timeZone, to: &output, end: tab)
            appendObject(row.recipient, to: &output, end: tab)
            appendObject(row.parameters, to: &output, end: newline)
        }
        return output
    }

    static func chunks(_ bytes: [UInt8]) -> AsyncStream<[UInt8]> {
        AsyncStream { continuation in
            var start = 0
            while start < bytes.count {
                let end = min(start + chunkSize, bytes.count)
                continuation.yield(Array(bytes[start..<end]))
                start = end
            }
            continuation.finish()
        }
    }

    private static let tab = UInt8(ascii: "\t")
    private static let newline = UInt8(ascii: "\n")
    private static let backslash = UInt8(ascii: "\\")

    /// A text with COPY's escapes.
    private static func append(_ text: String, to output: inout [UInt8], end: UInt8) {
        for byte in text.utf8 {
            switch byte {
            case tab: output += [backslash, UInt8(ascii: "t")]
            case newline: output += [backslash, UInt8(ascii: "n")]
            case UInt8(ascii: "\r"): output += [backslash, UInt8(ascii: "r")]
            case backslash: output += [backslash, backslash]
            default: output.append(byte)
            }
        }
        output.append(end)
    }

    /// A JSON object of strings, or NULL for an empty one.
    private static func appendObject(_ values: [String: String], to output: inout [UInt8], end: UInt8) {
        guard !values.isEmpty else {
            output += [backslash, UInt8(ascii: "N"), end]
            return
        }
        let members = values.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\(quoted($0.value))" }
        append("{" + members.joined(separator: ",") + "}", to: &output, end: end)
    }

    /// A JSON string.
    private static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output + "\""
    }
}
