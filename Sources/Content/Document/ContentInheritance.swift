import PushCore

/// What a locale's variant inherits from the main content, the one without a locale.
///
/// There is one rule. A variant inherits from its platform's main section each key that it does not set, and variables
/// by name; null removes a key. Two keys for the same thing count as one: a title as text replaces a title by key. A
/// variant that is another kind of message inherits nothing.
extension ContentSection {
    /// The keys that determine the kind of a message.
    static let kindKeys = ["push_type", "silent", "kind", "template"]

    /// For a key that a variant sets, the main section's keys for the same thing, which it replaces.
    static let otherWays: [String: [String]] = [
        "title": ["title_loc_key", "title_loc_args"], "title_loc_key": ["title", "title_loc_args"],
        "subtitle": ["subtitle_loc_key", "subtitle_loc_args"], "subtitle_loc_key": ["subtitle", "subtitle_loc_args"],
        "body": ["loc_key", "loc_args", "body_loc_key", "body_loc_args"], "loc_key": ["body", "loc_args"],
        "body_loc_key": ["body", "body_loc_args"], "badge": ["clear_badge"], "clear_badge": ["badge"],
        "relevance_score": ["relevance_percent"], "relevance_percent": ["relevance_score"],
    ]
    /// If a variant sets one of these, it does not inherit the texts of the raw `aps` or `message`, which would hide
    /// its own.
    private static let texts: Set<String> = [
        "title", "title_loc_key", "subtitle", "subtitle_loc_key", "body", "loc_key", "body_loc_key",
    ]

    /// Whether a variant inherits from the main section.
    ///
    /// - Parameter entries: what the variant says, nulls too.
    static func inherits(_ entries: [JSONEntry], from section: ContentSection) -> Bool {
        let variant = ContentSection(platform: section.platform, entries: entries)
        return kindKeys.allSatisfy { variant[$0] == nil || variant.kindValue($0) == section.kindValue($0) }
    }

    private func kindValue(_ key: String) -> JSONValue? {
        key == "template" ? group(key)?["type"] : self[key]
    }

    /// The section of a variant, with what it inherits from this one.
    ///
    /// - Parameter entries: what the variant says, nulls too.
    func variant(_ entries: [JSONEntry]) -> ContentSection {
        guard Self.inherits(entries, from: self) else { return ContentSection(platform: platform, entries: entries) }
        let said = Set(entries.map(\.name))
        let displaced = Set(entries.filter { $0.value != .null }.flatMap { Self.otherWays[$0.name] ?? [] })
        var taken = self.entries.filter { !said.contains($0.name) && !displaced.contains($0.name) }
        if !said.isDisjoint(with: Self.texts) { taken = taken.map(Self.withoutTexts) }
        var merged = ContentSection(platform: platform, entries: entries + taken)
        if said.contains("variables") || platform == .android { merged.inheritVariables(from: self, said: entries) }
        return merged
    }

    /// A raw `aps` or `message` without its texts; any other entry unchanged.
    private static func withoutTexts(_ entry: JSONEntry) -> JSONEntry {
        guard case .object(let inner) = entry.value else { return entry }
        switch entry.name {
        case "aps": return JSONEntry(name: entry.name, value: .object(inner.filter { $0.name != "alert" }))
        case "message":
            let rest = inner.filter { $0.name != "notification" }.map { part in
                guard part.name == "android", case .object(let config) = part.value else { return part }
                return JSONEntry(name: part.name, value: .object(config.filter { $0.name != "notification" }))
            }
            return JSONEntry(name: entry.name, value: .object(rest))
        default: return entry
        }
    }

    /// Adds the main section's variables that the variant does not set. A data message has texts under names of their
    /// own, which take precedence.
    private mutating func inheritVariables(from section: ContentSection, said entries: [JSONEntry]) {
        if entries.contains(where: { $0.name == "variables" && $0.value == .null }) { return }
        var given: [JSONEntry] = []
        if case .object(let own)? = entries.last(where: { $0.name == "variables" })?.value { given = own }
        let ownTexts = platform == .android ? FCMLayout.dataTexts(self).map(\.name) : []
        let taken = Set(given.map(\.name) + ownTexts)
        given += section.variables.filter { !taken.contains($0.name) }
        let others = self.entries.filter { $0.name != "variables" }
        self = ContentSection(
            platform: platform,
            entries: given.isEmpty ? others : others + [JSONEntry(name: "variables", value: .object(given))]
        )
    }
}
