import PushCore

/// What somebody has typed into the form of a content, and the content that it makes.
///
/// Values have the names that problems of a content have: `ios.title`, `android.variables.screen`, `locales.fr.ios.body`; so each
/// problem finds its field. A rich template and a sound have a value for each of their keys: `ios.template.items[0].image`. What the form
/// cannot show of a content is kept in `ios.more`, as JSON.
public struct ContentForm: Sendable, Hashable {
    /// The name of the value with the locales, one after the other.
    public static let locales = "locales"
    /// The name of the value that says what becomes of messages without a value for a field.
    public static let missing = "missing"
    /// The name of the value that says whether messages carry the ids of tracking.
    public static let tracking = "tracking"
    /// Locales of a content that is written in a form: each is a column of it.
    public static let mostLocales = 8
    /// The name of the value with the variants of further locales, as JSON.
    private static let moreLocales = "locales.more"

    /// The values, by name.
    public var values: [String: String]
    /// The platforms that it speaks to.
    public var platforms: [Platform]
    /// The variables that its applications declare, by platform.
    public var variables: [Platform: [ApplicationVariable]]

    /// A form with what was typed.
    public init(
        values: [String: String],
        platforms: [Platform],
        variables: [Platform: [ApplicationVariable]] = [:]
    ) {
        self.values = values
        self.platforms = platforms
        self.variables = variables
    }

    /// The locales that it has variants for, as they are typed: separated by commas or blanks.
    public var localeNames: [String] { Array(typedLocales.prefix(Self.mostLocales)) }

    /// The locales for which nothing is typed on any platform: who has one gets the content for everybody.
    public var emptyLocales: [String] {
        localeNames.filter { locale in
            var unnamed: [ContentProblem] = []
            return platforms.allSatisfy { section($0, locale: locale, &unnamed).isEmpty } && unnamed.isEmpty
        }
    }

    private var typedLocales: [String] {
        let words = (values[Self.locales] ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
        return words.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Variants that no message gets, or that the form cannot hold.
    private var localeProblems: [ContentProblem] {
        let typed = typedLocales
        var problems: [ContentProblem] = []
        if typed.count > Self.mostLocales {
            problems.append(
                ContentProblem(
                    key: Self.locales,
                    cause: "these are \(typed.count) locales, and a form has \(Self.mostLocales)",
                    remedy: "keep \(Self.mostLocales); pushmta delivery create takes a content with more"
                )
            )
        }
        for locale in typed {
            // ISO 639 has codes of two and three letters; the longer ones that BCP 47 keeps room for were never given.
            let language = locale.prefix { $0 != "-" && $0 != "_" }
            guard language.utf8.count > 3 else { continue }
            problems.append(
                ContentProblem(
                    key: Self.locales,
                    cause: "no device has the locale \"\(locale.prefix(64))\", so no message gets its variant",
                    remedy: "write the code of a language, such as fr, or one with a region, such as fr-CA"
                )
            )
        }
        return problems
    }

    /// The content, JSON, and what is wrong with it.
    ///
    /// - Returns: the content as far as it can be read, and its problems by the names of their values.
    public func content() -> (json: String, problems: [ContentProblem]) {
        var problems = localeProblems
        var entries: [JSONEntry] = []
        for platform in platforms {
            entries.append(JSONEntry(name: platform.rawValue, value: .object(section(platform, &problems))))
        }
        var locales = localeNames.map { locale in
            let sections = platforms.compactMap { platform -> JSONEntry? in
                let own = section(platform, locale: locale, &problems)
                return own.isEmpty ? nil : JSONEntry(name: platform.rawValue, value: .object(own))
            }
            return JSONEntry(name: locale, value: .object(sections))
        }
        if case .object(let more)? = try? JSONValue(parsing: (values[Self.moreLocales] ?? "").utf8) {
            let spoken = Set(platforms.map(\.rawValue))
            locales += more.filter { !localeNames.contains($0.name) }.map { locale in
                guard case .object(let sections) = locale.value else { return locale }
                return JSONEntry(name: locale.name, value: .object(sections.filter { spoken.contains($0.name) }))
            }
        }
        if !locales.isEmpty { entries.append(JSONEntry(name: "locales", value: .object(locales))) }
        if let missing = values[Self.missing], !missing.isEmpty {
            entries.append(JSONEntry(name: "missing", value: .string(missing)))
        }
        if let tracking = values[Self.tracking].flatMap({ ContentField.value($0, of: .boolean) }) {
            entries.append(JSONEntry(name: "tracking", value: tracking))
        }
        let json = JSONValue.object(entries).compactText
        return (json, problems + PushContent.validate(json: json))
    }

    private func section(_ platform: Platform, _ problems: inout [ContentProblem]) -> [JSONEntry] {
        let path = platform.rawValue
        var entries = entries(ContentKey.keys(platform), path)
        let given = (variables[platform] ?? []).compactMap { variable -> JSONEntry? in
            guard let text = values["\(path).variables.\(variable.name)"], !text.isEmpty else { return nil }
            return JSONEntry(
                name: variable.name,
                value: variable.type.accepts(text) ? variable.type.value(text) : .string(text)
            )
        }
        if !given.isEmpty { entries.append(JSONEntry(name: "variables", value: .object(given))) }
        return entries + rest(path, beside: entries.map(\.name), &problems)
    }

    /// What a locale's variant says for itself; it inherits all else.
    private func section(_ platform: Platform, locale: String, _ problems: inout [ContentProblem]) -> [JSONEntry] {
        let path = "locales.\(locale).\(platform.rawValue)"
        let texts = ContentKey.keys(platform).filter { ContentField.localised.contains($0.name) }
        let entries = entries(texts, path) + (template(platform, under: path).map { [$0] } ?? [])
        return entries + rest(path, beside: entries.map(\.name), &problems)
    }

    /// The entries that are written as JSON.
    private func rest(_ path: String, beside names: [String], _ problems: inout [ContentProblem]) -> [JSONEntry] {
        let key = "\(path).\(ContentField.rest)"
        guard let text = values[key], text.contains(where: { !$0.isWhitespace }) else { return [] }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: text.utf8)
        } catch {
            problems.append(
                ContentProblem(key: key, cause: "it is no JSON: \(error)", remedy: "give an object, or nothing")
            )
            return []
        }
        guard case .object(let entries) = value else {
            problems.append(
                ContentProblem(key: key, cause: "it is \(value.kindName)", remedy: "give an object, or nothing")
            )
            return []
        }
        if let twice = entries.first(where: { names.contains($0.name) }) {
            let cause = "it has \(twice.name), which has a field of its own"
            problems.append(ContentProblem(key: key, cause: cause, remedy: "say it in one of the two places"))
        }
        return entries.filter { !names.contains($0.name) }
    }
}

/// What was typed for a key as a value of the content.
extension ContentForm {
    /// The type of a platform's rich template; nil if it has none.
    public func templateType(_ platform: Platform) -> String? {
        values["\(platform.rawValue).\(ContentField.template).\(RichTemplateKind.typeName)"].flatMap {
            $0.isEmpty ? nil : $0
        }
    }

    /// A rich template as a locale's variant has it: that for everybody, with what was typed for the locale over it. A variant's takes the
    /// place of the whole. Nil where it would be the same.
    private func template(_ platform: Platform, under path: String) -> JSONEntry? {
        guard let key = ContentKey.keys(platform).first(where: { $0.name == ContentField.template }) else { return nil }
        let (own, main) = ("\(path).\(key.name)", "\(platform.rawValue).\(key.name)")
        var form = self
        for (name, text) in values where name.hasPrefix(own + ".") && !text.isEmpty {
            form.values[main + name.dropFirst(own.count)] = text
        }
        guard let value = form.value(of: key, main), value != self.value(of: key, main) else { return nil }
        return JSONEntry(name: key.name, value: value)
    }

    /// The values of a variant's rich template that differ from those for everybody; nil where it is more than other values.
    private static func texts(
        ofTemplate entry: JSONEntry,
        _ platform: Platform,
        under path: String,
        beside values: [String: String]
    ) -> [String: String]? {
        guard let key = ContentKey.keys(platform).first(where: { $0.name == ContentField.template }),
            entry.name == key.name, let all = texts(entry.value, of: key, "\(path).\(key.name)")
        else { return nil }
        let other = all.filter { values[platform.rawValue + $0.key.dropFirst(path.count)] != $0.value }
        let form = ContentForm(values: values.merging(other) { first, _ in first }, platforms: [])
        let again = form.template(platform, under: path)?.value
        // Another type is another kind of message, and inherits nothing.
        guard other["\(path).\(key.name).\(RichTemplateKind.typeName)"] == nil, again?.isSame(as: entry.value) == true
        else { return nil }
        return other
    }

    private func entries(_ keys: [ContentKey], _ path: String) -> [JSONEntry] {
        keys.compactMap { key in
            value(of: key, "\(path).\(key.name)").map { JSONEntry(name: key.name, value: $0) }
        }
    }

    /// The value of a key; nil where nothing is typed.
    private func value(of key: ContentKey, _ path: String) -> JSONValue? {
        // A text keeps its blanks: they may be meant.
        let own = values[path].flatMap { ContentField.value($0, of: key.kind) }
        switch key.kind {
        case .textOrGroup(let keys):
            let others = entries(Array(keys.dropFirst()), path)
            guard !others.isEmpty, let first = keys.first else { return own }
            return .object((own.map { [JSONEntry(name: first.name, value: $0)] } ?? []) + others)
        case .template(let platform):
            let type = RichTemplateKind.key(platform)
            guard let word = values["\(path).\(type.name)"], !word.isEmpty else { return nil }
            let kind = RichTemplateKind(rawValue: word)
            return .object(entries([type] + (kind?.keys(platform) ?? []), path))
        case .items(let keys, let count):
            // What was typed for a type with a longer list stays typed, and is none of this one's.
            var rows = (0..<count.upperBound).map { entries(keys, "\(path)[\($0)]") }
            // An empty one between others is there, so that each keeps its place and what is missing is told.
            while rows.last?.isEmpty == true { rows.removeLast() }
            return rows.isEmpty ? nil : .array(rows.map { .object($0) })
        default: return own
        }
    }

    /// The values that a key's fields have for a value; nil where they could not say the same.
    private static func texts(_ value: JSONValue, of key: ContentKey, _ path: String) -> [String: String]? {
        let found: [String: String]?
        switch (key.kind, value) {
        case (.textOrGroup(let keys), .object(let entries)):
            found = texts(entries, of: keys, path).map { texts in
                var texts = texts
                if let first = keys.first { texts[path] = texts.removeValue(forKey: "\(path).\(first.name)") }
                return texts
            }
        case (.template(let platform), .object(let entries)):
            let type = ContentSection(platform: platform, entries: entries).string(RichTemplateKind.typeName)
            let kind = type.flatMap(RichTemplateKind.init(rawValue:))
            found = texts(entries, of: [RichTemplateKind.key(platform)] + (kind?.keys(platform) ?? []), path)
        case (.items(let keys, _), .array(let elements)):
            let rows = elements.enumerated().map { row, element -> [String: String]? in
                guard case .object(let entries) = element else { return nil }
                return texts(entries, of: keys, "\(path)[\(row)]")
            }
            found = rows.contains { $0 == nil } ? nil : rows.compactMap { $0 }.reduce(into: [:]) { $0.merge($1) { $1 } }
        default:
            return ContentField.text(value, of: key).map { [path: $0] }
        }
        guard let found else { return nil }
        let again = ContentForm(values: found, platforms: []).value(of: key, path)
        // An object with its first key alone is as good as the text.
        if case .textOrGroup(let keys) = key.kind, case .string = again, let first = keys.first, let again {
            return JSONValue.object([JSONEntry(name: first.name, value: again)]).isSame(as: value) ? found : nil
        }
        return again?.isSame(as: value) == true ? found : nil
    }

    private static func texts(_ entries: [JSONEntry], of keys: [ContentKey], _ path: String) -> [String: String]? {
        var all: [String: String] = [:]
        for entry in entries where entry.value.saysSomething {
            guard let key = keys.first(where: { $0.name == entry.name }),
                let texts = texts(entry.value, of: key, "\(path).\(key.name)")
            else { return nil }
            all.merge(texts) { first, _ in first }
        }
        return all
    }
}

/// A content as a form shows it, for what begins with a template.
extension ContentForm {
    /// The values of an object as texts: what stands for fields.
    public static func texts(json: String) -> [String: String] {
        guard case .object(let entries)? = try? JSONValue(parsing: json.utf8) else { return [:] }
        return entries.reduce(into: [:]) { $0[$1.name] = ContentField.text($1.value) ?? $1.value.compactText }
    }

    /// The values of a content; none for what is no object.
    public static func values(json: String) -> [String: String] {
        guard case .object(let root)? = try? JSONValue(parsing: json.utf8) else { return [:] }
        var values: [String: String] = [:]
        read(.object(root), "", onlyTexts: false, &values)
        for entry in root {
            switch (entry.name, entry.value) {
            case (missing, .string(let word)): values[missing] = word
            case (tracking, .boolean(let flag)): values[tracking] = flag ? "true" : "false"
            case (locales, .object(let variants)):
                values[locales] = variants.prefix(mostLocales).map(\.name).joined(separator: ", ")
                let more = Array(variants.dropFirst(mostLocales))
                if !more.isEmpty { values[moreLocales] = JSONValue.object(more).compactText }
                for variant in variants.prefix(mostLocales) {
                    read(variant.value, "locales.\(variant.name).", onlyTexts: true, &values)
                }
            default: break
            }
        }
        return values
    }

    private static func read(_ value: JSONValue, _ prefix: String, onlyTexts: Bool, _ values: inout [String: String]) {
        guard case .object(let sections) = value else { return }
        for section in sections {
            guard let platform = Platform(rawValue: section.name), case .object(let entries) = section.value else {
                continue
            }
            let path = prefix + platform.rawValue
            let keys = ContentKey.keys(platform).filter { !onlyTexts || ContentField.localised.contains($0.name) }
            var more: [JSONEntry] = []
            // In a variant an empty value takes away what it would inherit.
            for entry in entries where onlyTexts || entry.value.saysSomething {
                if let key = keys.first(where: { $0.name == entry.name }),
                    let texts = texts(entry.value, of: key, "\(path).\(key.name)")
                {
                    values.merge(texts) { first, _ in first }
                } else if onlyTexts, let texts = texts(ofTemplate: entry, platform, under: path, beside: values) {
                    values.merge(texts) { first, _ in first }
                } else {
                    more.append(entry)
                }
            }
            if !more.isEmpty { values["\(path).\(ContentField.rest)"] = JSONValue.object(more).compactText }
        }
    }
}
