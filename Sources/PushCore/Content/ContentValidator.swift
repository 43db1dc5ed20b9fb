/// Checks a content and collects everything that is wrong with it.
struct ContentValidator {
    private(set) var problems: [ContentProblem] = []

    /// Far more than all locales of a payload of 5,120 bytes need, and little enough that nothing takes long.
    static let largestContent = 1 << 20
    /// Nobody reads more problems than these.
    private static let mostProblems = 100

    /// The keys of a content.
    private static let keys = Platform.allCases.map(\.rawValue) + ["locales", "missing", "tracking", "$schema"]

    /// The content; nil, or meaningless, when problems were found.
    mutating func content(json: [UInt8]) -> PushContent? {
        guard json.count <= Self.largestContent else {
            add(
                "",
                "it has \(json.count) bytes",
                "shorten it to \(Self.largestContent) at most; no payload takes more than 5,120"
            )
            return nil
        }
        let value: JSONValue
        do throws(JSONSyntaxError) {
            // Half a surrogate pair is as little storable as U+0000, and this is how the check below sees it.
            value = try JSONParser.parse(json, halfPair: Self.unstorable)
        } catch {
            add("", "it is not JSON: \(error)", "correct the JSON text")
            return nil
        }
        guard case .object(let entries) = value else {
            add("", "it is \(value.kindName)", #"write an object: {"ios": {…}, "android": {…}}"#)
            return nil
        }
        checkStorable(value, nil)
        checkDuplicates(entries, under: nil)
        var variants: [ContentVariant] = []
        for entry in entries where Platform(rawValue: entry.name) != nil || !Self.keys.contains(entry.name) {
            if let section = section(entry, locale: "") { variants.append(section) }
        }
        if variants.isEmpty, problems.isEmpty {
            add("", "it says nothing for any platform", #"add a section "ios" or "android""#)
        }
        let root = ContentSection(platform: .ios, entries: entries)
        variants += locales(root["locales"], platforms: Set(variants.map(\.section.platform)))
        return PushContent(variants: variants, missing: missing(root), hasTracking: tracking(root))
    }

    mutating func add(_ key: String, _ cause: String, _ remedy: String) {
        guard problems.count < Self.mostProblems else { return }
        problems.append(ContentProblem(key: key, cause: cause, remedy: remedy))
    }

    /// Checks one entry of a content, or of a locale of it.
    mutating func section(_ entry: JSONEntry, locale: String) -> ContentVariant? {
        guard let platform = Platform(rawValue: entry.name) else {
            let known = locale.isEmpty ? Self.keys.dropLast() : Platform.allCases.map(\.rawValue)
            addUnknown(entry.name, under: locale.isEmpty ? nil : "locales.\(locale)", known: Array(known))
            return nil
        }
        let path = ContentVariant.path(locale: locale, platform)
        guard case .object(let entries) = entry.value else {
            if entry.value != .null { add(path, "it is \(entry.value.kindName)", "write an object") }
            return nil
        }
        let before = problems.count
        check(entries, keys: ContentKey.keys(platform), path, platform)
        let section = ContentSection(platform: platform, entries: entries)
        checkWhole(section, path, isSound: problems.count == before)
        return ContentVariant(locale: locale, section: section)
    }

    /// Checks the entries of an object against the keys that it may have.
    mutating func check(_ entries: [JSONEntry], keys: [ContentKey], _ path: String, _ platform: Platform) {
        checkDuplicates(entries, under: path)
        for entry in entries where entry.value != .null {
            if let key = keys.first(where: { $0.name == entry.name }) {
                check(entry.value, of: key, Self.path(path, key.name), platform)
            } else {
                addUnknown(entry.name, under: path, known: keys.map(\.name))
            }
        }
        let section = ContentSection(platform: platform, entries: entries)
        for key in keys where key.isRequired && !section.has(key.name) {
            add(Self.path(path, key.name), "it is missing", "write \(Self.expectation(key.kind))")
        }
    }

    mutating func checkDuplicates(_ entries: [JSONEntry], under parent: String?) {
        var seen: Set<String> = []
        var reported: Set<String> = []
        for name in entries.map(\.name) where !seen.insert(name).inserted && reported.insert(name).inserted {
            add(Self.path(parent, name), "it is written more than once", "keep one of them")
        }
    }

    mutating func addUnknown(_ name: String, under parent: String?, known: [String]) {
        guard problems.count < Self.mostProblems else { return }
        // A longer name is no slip of the pen, and comparing it with every key takes long.
        let nearest = name.utf8.count > 64 ? nil : NearestName.nearest(to: name, among: known)
        let advice =
            nearest.map { "the nearest known key is \"\($0)\"" } ?? "known keys are: \(known.joined(separator: ", "))"
        add(Self.path(parent, name), "this key is unknown", advice)
    }

    /// A key's full name, shortened when it is not a name but a text.
    static func path(_ parent: String?, _ name: String) -> String {
        let short = name.count > 64 ? name.prefix(64) + "…" : name[...]
        return parent.map { "\($0).\(short)" } ?? String(short)
    }
}
