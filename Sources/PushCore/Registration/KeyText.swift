/// Cleans and checks keys as people and programs write them: user keys, tokens, locales, and names of columns.
package enum KeyText {
    /// The text without invisible characters at its ends: blanks, no-break spaces, byte order marks. To a database they
    /// make another key; to the person who wrote it the key is the same.
    package static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last, first.isBlank || last.isBlank else { return text }
        var part = scalars[...]
        while let scalar = part.first, scalar.isBlank { part.removeFirst() }
        while let scalar = part.last, scalar.isBlank { part.removeLast() }
        return String(part)
    }

    /// Why a text cannot be a user key; nil if it can. The reason never contains the key itself.
    ///
    /// A number that a spreadsheet or program has shortened, such as 1.23457E+11 or 1.2E11, has lost its last digits.
    /// Without a point and a sign, as in 1E5, it may be hexadecimal, and no program shortens a number to this form. A
    /// number such as 1234567.0 was not kept as text on its way. A word for "nothing" would be one key for all users
    /// without a key: a message to one of them would reach all.
    package static func flaw(inUserKey text: String) -> String? {
        // The length or the first byte rules out nearly all keys.
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

    /// The words that programs write for a missing value.
    private static let nothings: Set<String> = [
        "null", "(null)", "nil", "none", "nan", "undefined", "#n/a", "n/a", "<null>", "\\n",
    ]

    /// What is wrong with a user key in a file; nil if it is valid. It never contains the key itself.
    package static func problem(userKey key: String) -> String? {
        if key.utf8.count > DeviceRegistration.maxKeyLength {
            return "user_key is longer than \(DeviceRegistration.maxKeyLength) bytes"
        }
        return flaw(inUserKey: key).map {
            "user_key is \($0): leave it empty if there is no key, and export numbers as text"
        }
    }
}
