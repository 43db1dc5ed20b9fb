extension ContentValidator {
    /// Checks the variants for locales.
    mutating func locales(_ value: JSONValue?, platforms: Set<Platform>) -> [ContentVariant] {
        guard let value else { return [] }
        guard case .object(let locales) = value else {
            add("locales", "it is \(value.kindName)", #"write an object: {"fr": {"ios": {…}}}"#)
            return []
        }
        var variants: [ContentVariant] = []
        var seen: Set<[UInt8]> = []
        for locale in locales where locale.value != .null {
            let path = Self.path("locales", locale.name)
            guard isLocale(locale.name, path) else { continue }
            if !seen.insert(LocaleMatcher.normalised(locale.name)).inserted {
                add(path, "it is written more than once", "keep one of them; fr-CA, fr_CA and fr-ca are the same")
            }
            guard case .object(let entries) = locale.value else {
                add(path, "it is \(locale.value.kindName)", #"write an object: {"ios": {…}, "android": {…}}"#)
                continue
            }
            checkDuplicates(entries, under: path)
            for entry in entries {
                guard let variant = section(entry, locale: locale.name) else { continue }
                variants.append(variant)
                if !platforms.contains(variant.section.platform) {
                    let platform = variant.section.platform.rawValue
                    add(
                        "\(path).\(platform)",
                        "the content says nothing for \(platform) to those who have another locale",
                        "add the section \"\(platform)\" beside \"locales\""
                    )
                }
            }
        }
        return variants
    }

    /// Checks the policy for fields without a value.
    mutating func missing(_ root: ContentSection) -> MissingValuePolicy {
        guard let value = root["missing"] else { return .default }
        if case .string(let word) = value, let policy = MissingValuePolicy(rawValue: word) { return policy }
        let words = MissingValuePolicy.allCases.map(\.rawValue)
        add("missing", "it is no known policy", "write \(Self.list(words))")
        return .default
    }

    /// Checks whether messages carry the ids of tracking.
    mutating func tracking(_ root: ContentSection) -> Bool {
        guard let value = root["tracking"] else { return true }
        guard case .boolean(let hasTracking) = value else {
            add("tracking", "it is \(value.kindName)", "write true or false")
            return true
        }
        return hasTracking
    }

    /// Whether a name is that of a locale: a language and further tags (BCP 47, in its outline).
    private mutating func isLocale(_ name: String, _ path: String) -> Bool {
        let tags = name.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        let isLocale =
            name.utf8.count <= LocaleMatcher.longestLocale && (2...8).contains(tags.first?.utf8.count ?? 0)
            && tags.allSatisfy { tag in
                (1...8).contains(tag.utf8.count) && tag.utf8.allSatisfy(Self.isLetterOrDigit)
            }
        if !isLocale { add(path, "it is no locale", "write a language such as fr, or one with a region such as fr-CA") }
        return isLocale
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
