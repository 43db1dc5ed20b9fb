/// Checks the form of locales and time zones that people give: fr-CA, zh-Hant-TW, en_US@rg=gbzzzz; Europe/Paris,
/// Etc/GMT+2. It checks only the form, as the valid names change over the years.
package enum DeviceSetting {
    /// The maximum length of a locale or a time zone's name in bytes, far more than the longest one has.
    package static let longest = 64

    /// What is wrong with a locale; nil if it is valid or empty.
    package static func problem(locale: String) -> String? {
        isWord(locale, marks: "-_@=;.#")
            ? nil : "is not a locale: give a language, with a region if needed, as in fr or fr-CA"
    }

    /// What is wrong with a time zone; nil if it is valid or empty.
    package static func problem(timeZone: String) -> String? {
        isWord(timeZone, marks: "/_+-") ? nil : "is not a time zone: give a name such as Europe/Paris"
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
