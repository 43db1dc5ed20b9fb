import PushCore

/// JSON strings.
enum JSONText {
    /// `text` as a JSON string with its quotes.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            // C1's too, which JSON would allow: a terminal obeys them.
            case _ where scalar.isControl: result += TerminalText.escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
