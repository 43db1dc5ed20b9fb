/// Keys as people and programs write them: of users, tokens, locales, and the names of columns.
public enum KeyText {
    /// The text without what shows nothing at its ends: blanks, no-break spaces, byte order marks. A key with one is another key to a
    /// database, and the same to its writer.
    public static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last, first.isBlank || last.isBlank else { return text }
        var part = scalars[...]
        while let scalar = part.first, scalar.isBlank { part.removeFirst() }
        while let scalar = part.last, scalar.isBlank { part.removeLast() }
        return String(part)
    }

    /// Whether a text is what spreadsheets and programs make of a long number, as 1.23457E+11 and 1.2E11: its last digits are lost. Without
    /// a point and a sign, as 1E5, it may be hexadecimal, and no program writes numbers so.
    public static func isShortenedNumber(_ text: String) -> Bool {
        // Nearly all keys are told apart by two bytes.
        guard let first = text.utf8.first, 0x30...0x39 ~= first, text.utf8.count < 40 else { return false }
        return text.wholeMatch(of: /[0-9](?:[.,][0-9]+)?[Ee]\+[0-9]{1,3}|[0-9][.,][0-9]+[Ee][0-9]{1,3}/) != nil
    }

    /// What is wrong with a user key in a file or of a request; nil if nothing is. Never the key itself.
    public static func problem(userKey key: String) -> String? {
        if key.utf8.count > DeviceRegistration.longestKey {
            return "user_key is longer than \(DeviceRegistration.longestKey) bytes"
        }
        guard isShortenedNumber(key) else { return nil }
        return "user_key is \(shortenedWords): format the column as text, and export again"
    }

    /// What a shortened number is, in words.
    public static let shortenedWords = "a number that a spreadsheet or program has shortened, such as 1.2E+11"
}
