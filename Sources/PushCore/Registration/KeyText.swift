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

    /// Why a text cannot be a user key; nil if it can. Never the key itself.
    ///
    /// A number that a spreadsheet or a program has shortened, as 1.23457E+11 and 1.2E11, has lost its last digits; without a point and a
    /// sign, as 1E5, it may be hexadecimal, and no program writes numbers so. 1234567.0 is a number that was no text on its way. A word for
    /// "nothing" is one key for all who have none: what is sent to one of them reaches all.
    public static func flaw(inUserKey text: String) -> String? {
        // Nearly all keys are told apart by their length or first byte.
        guard let first = text.utf8.first, text.utf8.count < 40 else { return nil }
        if 0x30...0x39 ~= first || first == 0x2B || first == 0x2D,
            text.wholeMatch(
                of: /[+-]?[0-9]+(?:[.,][0-9]+)?[Ee][+-][0-9]{1,3}|[+-]?[0-9]+[.,][0-9]+[Ee][0-9]{1,3}|[0-9]+\.0+/
            ) != nil
        {
            return "a number that a spreadsheet or program has rewritten, such as 1.2E+11 or 12.0"
        }
        return nothings.contains(text.lowercased()) ? "a word for nothing, such as null" : nil
    }

    /// What programs write where there is no value.
    private static let nothings: Set<String> = [
        "null", "(null)", "nil", "none", "nan", "undefined", "#n/a", "n/a", "<null>", "\\n",
    ]

    /// What is wrong with a user key in a file; nil if nothing is. Never the key itself.
    public static func problem(userKey key: String) -> String? {
        if key.utf8.count > DeviceRegistration.longestKey {
            return "user_key is longer than \(DeviceRegistration.longestKey) bytes"
        }
        return flaw(inUserKey: key).map {
            "user_key is \($0): leave it empty where there is none, and export numbers as text"
        }
    }
}
