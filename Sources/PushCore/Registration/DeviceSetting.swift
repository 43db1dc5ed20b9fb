/// Locales and time zones as people give them: fr-CA, zh-Hant-TW, en_US@rg=gbzzzz; Europe/Paris, Etc/GMT+2. Which there are changes
/// with the years, so that only their form is looked at.
public enum DeviceSetting {
    /// Bytes of a locale or of a time zone's name: far more than the longest has.
    public static let longest = 64

    /// What is wrong with a locale; nil if nothing is, or if it is empty.
    public static func problem(locale: String) -> String? {
        isWord(locale, marks: "-_@=;.") ? nil : "is none: a language, and what belongs to it, as in fr or fr-CA"
    }

    /// What is wrong with a time zone; nil if nothing is, or if it is empty.
    public static func problem(timeZone: String) -> String? {
        isWord(timeZone, marks: "/_+-") ? nil : "is none: the name of a zone, as in Europe/Paris"
    }

    private static func isWord(_ text: String, marks: String) -> Bool {
        guard let first = text.utf8.first else { return true }
        guard text.utf8.count <= longest, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || marks.utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
