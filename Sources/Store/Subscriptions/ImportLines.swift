/// Subscriptions in the text format of COPY.
enum ImportLines {
    /// Bytes of a chunk: above the 64 KiB at which COPY becomes fast.
    private static let chunkSize = 256 * 1024

    static func copyText(_ rows: [ImportRow]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(rows.count * 200)
        for row in rows {
            append(String(row.line), to: &output, end: tab)
            append(row.pushToken, to: &output, end: tab)
            appendOrNull(row.userKey, to: &output, end: tab)
            appendOrNull(row.locale, to: &output, end: tab)
            appendOrNull(row.timeZone, to: &output, end: tab)
            appendObject(row.recipient, to: &output, end: tab)
            appendObject(row.parameters, to: &output, end: tab)
            appendOrNull(row.registeredAt?.internetText, to: &output, end: newline)
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

    private static func appendOrNull(_ text: String?, to output: inout [UInt8], end: UInt8) {
        if let text { append(text, to: &output, end: end) } else { output += [backslash, UInt8(ascii: "N"), end] }
    }

    /// A JSON object of strings, with null for cleared fields; NULL for an empty object.
    private static func appendObject(_ values: [String: String], to output: inout [UInt8], end: UInt8) {
        guard !values.isEmpty else {
            output += [backslash, UInt8(ascii: "N"), end]
            return
        }
        let members = values.sorted { $0.key < $1.key }.map {
            "\(quoted($0.key)):\($0.value.isEmpty ? "null" : quoted($0.value))"
        }
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
