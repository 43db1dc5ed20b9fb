/// The rules for names, labels and integration keys, the same for everything that people name.
///
/// The database has the same rules in the functions `is_name`, `is_label` and `is_integration_key` of `pushmta_engine`;
/// a test compares the two.
package enum NameRule {
    /// The maximum length of a name in bytes: long enough for any word, short enough for a table column.
    package static let maxNameLength = 200
    /// The maximum length of a label in code points, as PostgreSQL counts them.
    package static let maxLabelLength = 500
    /// The maximum length of an integration key in bytes: the maximum that a registration can send.
    package static let maxIntegrationKeyLength = DeviceRegistration.maxKeyLength

    /// The rule for a name, for hints.
    package static let nameWords =
        "a name has 1 to \(maxNameLength) bytes, is not blank, and has no line breaks or control characters"
    /// The rule for a label, for hints.
    package static let labelWords =
        "a label has at most \(maxLabelLength) characters, is not blank, and has no line breaks or control characters"
    /// The rule for an integration key, for hints.
    package static let integrationKeyWords =
        "an integration key has 1 to \(maxIntegrationKeyLength) bytes, is not blank, and has no line breaks or control characters"

    /// What is wrong with a name, in words to put after it; nil if it is valid. They never contain the name itself,
    /// because a terminal could obey it.
    package static func problem(name: String) -> String? {
        problem(name, bytes: maxNameLength)
    }

    /// What is wrong with a label; nil if it is valid. An empty label means no label and is always allowed.
    package static func problem(label: String) -> String? {
        if label.isEmpty { return nil }
        let count = label.unicodeScalars.count
        return count > maxLabelLength
            ? "has \(count) characters; the maximum is \(maxLabelLength)" : problem(plain: label)
    }

    /// What is wrong with an integration key; nil if it is valid.
    package static func problem(integrationKey key: String) -> String? {
        problem(key, bytes: maxIntegrationKeyLength)
    }

    private static func problem(_ text: String, bytes limit: Int) -> String? {
        if text.isEmpty { return "is empty" }
        let count = text.utf8.count
        return count > limit ? "has \(count) bytes; the maximum is \(limit)" : problem(plain: text)
    }

    private static func problem(plain text: String) -> String? {
        if let scalar = text.unicodeScalars.first(where: { $0.isControl || $0.isLineSeparator }) {
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "has the control character U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
        return text.unicodeScalars.allSatisfy(\.isBlank) ? "is blank" : nil
    }
}

extension Unicode.Scalar {
    /// Whether it is a C0 or C1 control character, which a terminal may obey.
    package var isControl: Bool { properties.generalCategory == .control }

    /// Whether it is invisible: white space, joiners, direction marks, fillers.
    var isBlank: Bool {
        if properties.isWhitespace { return true }
        switch value {
        case 0xAD, 0x115F, 0x1160, 0x180E, 0x200B...0x200F, 0x2060...0x2064, 0x2800, 0x3164, 0xFEFF, 0xFFA0: return true
        default: return false
        }
    }

    /// Whether it starts a new line or paragraph without being a control character: U+2028 and U+2029.
    package var isLineSeparator: Bool { value == 0x2028 || value == 0x2029 }
}
