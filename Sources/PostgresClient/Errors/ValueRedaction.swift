/// Takes values out of the server's primary messages.
///
/// Only data exceptions (SQLSTATE class 22) quote values there: `invalid input syntax for type bigint: "…"`. Messages of
/// RAISE in functions are their authors' words and stay.
enum ValueRedaction {
    /// Quotation marks of the server's message languages.
    private static let quotes: Set<Character> = ["\"", "«", "»", "„", "“", "”", "「", "」"]

    static func redact(_ message: String, sqlState: String) -> String {
        guard sqlState.hasPrefix("22") else { return message }
        var text = Substring(message)
        // "invalid byte sequence for encoding "UTF8": 0xc3 0x28"
        if let bytes = text.firstRange(of: "0x") { text = text[..<bytes.lowerBound] + "…" }
        guard let first = text.firstIndex(where: quotes.contains), let last = text.lastIndex(where: quotes.contains)
        else {
            return String(text)
        }
        // A value may hold quotation marks itself, so everything between the outermost goes.
        return text[..<first] + "\"…\"" + text[text.index(after: last)...]
    }
}
