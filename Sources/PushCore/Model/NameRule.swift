/// What names, labels and integration keys may be: one rule for everything that people name.
///
/// The database has it a second time, as the functions `is_name`, `is_label` and `is_integration_key` of `pushmta_engine`; a test
/// compares them.
public enum NameRule {
    /// Bytes of a name: long enough for every word, short enough for a column of a table.
    public static let longestName = 200
    /// Code points of a label, as PostgreSQL counts them.
    public static let longestLabel = 500
    /// Bytes of an integration key: as many as a registration can send.
    public static let longestIntegrationKey = DeviceRegistration.longestKey

    /// What a name has to be, for hints.
    public static let nameWords =
        "a name has 1 to \(longestName) bytes, is not blank, and has no line breaks or control characters"
    /// What a label has to be, for hints.
    public static let labelWords =
        "a label has at most \(longestLabel) characters, is not blank, and has no line breaks or control characters"
    /// What an integration key has to be, for hints.
    public static let integrationKeyWords =
        "an integration key has 1 to \(longestIntegrationKey) bytes, is not blank, and has no line breaks or control characters"

    /// What is wrong with a name, as words behind it; nil if nothing is. The name itself is not in them, as a terminal could obey it.
    public static func problem(name: String) -> String? {
        problem(name, bytes: longestName)
    }

    /// What is wrong with a label; nil if nothing is. An empty one is none, which everything may have.
    public static func problem(label: String) -> String? {
        if label.isEmpty { return nil }
        let count = label.unicodeScalars.count
        return count > longestLabel ? "has \(count) characters, \(longestLabel) are taken" : problem(plain: label)
    }

    /// What is wrong with an integration key; nil if nothing is.
    public static func problem(integrationKey key: String) -> String? {
        problem(key, bytes: longestIntegrationKey)
    }

    private static func problem(_ text: String, bytes limit: Int) -> String? {
        if text.isEmpty { return "is empty" }
        let count = text.utf8.count
        return count > limit ? "has \(count) bytes, \(limit) are taken" : problem(plain: text)
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
    /// Whether it is a control character, of C0 or C1: a terminal may obey it.
    public var isControl: Bool { properties.generalCategory == .control }

    /// Whether it shows nothing: white space, joiners, marks of direction, fillers.
    var isBlank: Bool {
        if properties.isWhitespace { return true }
        switch value {
        case 0xAD, 0x115F, 0x1160, 0x180E, 0x200B...0x200F, 0x2060...0x2064, 0x2800, 0x3164, 0xFEFF, 0xFFA0: return true
        default: return false
        }
    }

    /// Whether it begins a new line or paragraph without being a control character: U+2028 and U+2029.
    public var isLineSeparator: Bool { value == 0x2028 || value == 0x2029 }
}

/// Finds the name that a mistyped one was probably meant to be.
public enum NearestName {
    /// The candidate with the smallest edit distance to `name`; case does not count. `nil` if none is near.
    ///
    /// - Parameter within: The most letters that may differ; by default a third of them, and two of a short one (letters change places), as
    ///   with more it is a guess.
    public static func nearest(to name: String, among candidates: some Sequence<String>, within: Int? = nil) -> String?
    {
        let within = within ?? max(2, name.utf8.count / 3)
        let wanted = Array(name.lowercased().utf8)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(wanted, Array(candidate.lowercased().utf8))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best.flatMap { $0.distance > within ? nil : $0.name }
    }

    /// Levenshtein's distance.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let substitution = diagonal + (a[i] == b[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substitution, diagonal + 1, row[j] + 1)
            }
        }
        return row[b.count]
    }
}
