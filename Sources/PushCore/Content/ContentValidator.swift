/// Checks a content and collects everything that is wrong with it.
struct ContentValidator {
    private(set) var problems: [ContentProblem] = []

    /// The sections of the content; meaningful only when no problem was found.
    mutating func sections(json: [UInt8]) -> [ContentSection] {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONParser.parse(json)
        } catch {
            add("", "it is not JSON: \(error)", "correct the JSON text")
            return []
        }
        guard case .object(let entries) = value else {
            add("", "it is \(value.kindName)", #"write an object: {"ios": {…}, "android": {…}}"#)
            return []
        }
        checkDuplicates(entries, under: nil)
        let sections = entries.compactMap { section($0) }
        if sections.isEmpty, problems.isEmpty {
            add("", "it says nothing for any platform", #"add a section "ios" or "android""#)
        }
        return sections
    }

    mutating func add(_ key: String, _ cause: String, _ remedy: String) {
        problems.append(ContentProblem(key: key, cause: cause, remedy: remedy))
    }

    private mutating func section(_ entry: JSONEntry) -> ContentSection? {
        guard let platform = Platform(rawValue: entry.name) else {
            addUnknown(entry.name, under: nil, known: Platform.allCases.map(\.rawValue))
            return nil
        }
        guard case .object(let entries) = entry.value else {
            if entry.value != .null { add(entry.name, "it is \(entry.value.kindName)", "write an object") }
            return nil
        }
        checkDuplicates(entries, under: entry.name)
        let known = ContentKey.keys(platform)
        for entry in entries where entry.value != .null {
            if let key = known.first(where: { $0.name == entry.name }) {
                check(entry.value, of: key, platform)
            } else {
                addUnknown(entry.name, under: platform.rawValue, known: known.map(\.name))
            }
        }
        let section = ContentSection(platform: platform, entries: entries.filter { $0.value != .null })
        checkWhole(section)
        return section
    }

    private mutating func checkDuplicates(_ entries: [JSONEntry], under parent: String?) {
        var seen: Set<String> = []
        var reported: Set<String> = []
        for name in entries.map(\.name) where !seen.insert(name).inserted && reported.insert(name).inserted {
            add(Self.path(parent, name), "it is written more than once", "keep one of them")
        }
    }

    private mutating func addUnknown(_ name: String, under parent: String?, known: [String]) {
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
