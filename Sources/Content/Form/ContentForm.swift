import PushCore

/// The values typed into the form for a content, and the content that results from them.
///
/// Values have the names that the content's problems use: `ios.title`, `android.variables.screen`,
/// `locales.fr.ios.body`. So each problem can be shown at its field. A rich template and a sound have a value for each
/// of their keys: `ios.template.items[0].image`. Parts of a content that the form cannot show are kept in `ios.more`,
/// as JSON.
package struct ContentForm: Sendable, Hashable {
    /// The name of the value with the list of locales.
    package static let locales = "locales"
    /// The name of the value with the policy for fields without a value.
    package static let missing = "missing"
    /// The name of the value that says whether messages carry tracking ids.
    package static let tracking = "tracking"
    /// The maximum number of locales in the form, where each is a column.
    package static let maxLocales = 8
    /// The name of the value with the variants of all other locales, as JSON.
    private static let moreLocales = "locales.more"

    /// The values, by name.
    package var values: [String: String]
    /// The platforms that the content is for.
    package var platforms: [Platform]
    /// The declared variables of its applications, by platform.
    package var variables: [Platform: [ApplicationVariable]]

    /// Creates a form from typed values.
    package init(
        values: [String: String],
        platforms: [Platform],
        variables: [Platform: [ApplicationVariable]] = [:]
    ) {
        self.values = values
        self.platforms = platforms
        self.variables = variables
    }

    /// The locales that it has variants for; they are typed separated by commas or spaces.
    package var localeNames: [String] { Array(typedLocales.prefix(Self.maxLocales)) }

    /// The locales for which nothing is typed on any platform: people with one of them get the main content.
    package var emptyLocales: [String] {
        localeNames.filter { locale in
            var unnamed: [ContentProblem] = []
            return platforms.allSatisfy { section($0, locale: locale, &unnamed).isEmpty } && unnamed.isEmpty
        }
    }

    private var typedLocales: [String] {
        let words = (values[Self.locales] ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
        return words.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Problems of the locales: too many for the form, or a variant that no message would use.
    private var localeProblems: [ContentProblem] {
        let typed = typedLocales
        var problems: [ContentProblem] = []
        if typed.count > Self.maxLocales {
            problems.append(
                ContentProblem(
                    key: Self.locales,
                    cause: "there are \(typed.count) locales, and the form has room for \(Self.maxLocales)",
                    remedy: "keep \(Self.maxLocales); pushmta delivery create accepts a content with more"
                )
            )
        }
        for locale in typed {
            // ISO 639 has codes of two and three letters; the longer ones for which BCP 47 reserves room were never
            // assigned.
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

    /// The content as JSON, and its problems.
    ///
    /// - Returns: the content, as far as it can be read, and its problems, which name the values at fault.
    package func content() -> (json: String, problems: [ContentProblem]) {
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

    /// The keys that a locale's variant sets; it inherits all others.
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
                ContentProblem(
                    key: key,
                    cause: "it is not JSON: \(error)",
                    remedy: "write an object, or leave it empty"
                )
            )
            return []
        }
        guard case .object(let entries) = value else {
            problems.append(
                ContentProblem(key: key, cause: "it is \(value.kindName)", remedy: "write an object, or leave it empty")
            )
            return []
        }
        if let twice = entries.first(where: { names.contains($0.name) }) {
            let cause = "it sets \(twice.name), which has its own field"
            problems.append(ContentProblem(key: key, cause: cause, remedy: "set it in only one of the two places"))
        }
        return entries.filter { !names.contains($0.name) }
    }
}

/// Conversion of typed values into values of the content.
extension ContentForm {
    /// The type of a platform's rich template; nil if it has none.
    package func templateType(_ platform: Platform) -> String? {
        values["\(platform.rawValue).\(ContentField.template).\(RichTemplateKind.typeName)"].flatMap {
            $0.isEmpty ? nil : $0
        }
    }

    /// The rich template of a locale's variant: the main one, changed by what was typed for the locale. A variant's
    /// template replaces the main one as a whole. Nil if it would be the same.
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

    /// The values in which a variant's rich template differs from the main one; nil if values cannot express the
    /// difference.
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
        // A template of another type is another kind of message, which inherits nothing.
        guard other["\(path).\(key.name).\(RichTemplateKind.typeName)"] == nil, again?.isSame(as: entry.value) == true
        else { return nil }
        return other
    }

    private func entries(_ keys: [ContentKey], _ path: String) -> [JSONEntry] {
        keys.compactMap { key in
            value(of: key, "\(path).\(key.name)").map { JSONEntry(name: key.name, value: $0) }
        }
    }

    /// The value of a key; nil if nothing is typed.
    private func value(of key: ContentKey, _ path: String) -> JSONValue? {
        // A text keeps its spaces: they may be intended.
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
            // Rows beyond this type's maximum, typed for another type, stay in the form but are not used.
            var rows = (0..<count.upperBound).map { entries(keys, "\(path)[\($0)]") }
            // Only trailing empty rows are removed. An empty row between others stays, so that the others keep their
            // places and its missing keys are reported.
            while rows.last?.isEmpty == true { rows.removeLast() }
            return rows.isEmpty ? nil : .array(rows.map { .object($0) })
        default: return own
        }
    }

    /// The values of a key's fields for a value of the content; nil if they could not express it.
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
        // An object with only its first key means the same as the text.
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

/// The values of an existing content, for a form that starts from a template.
extension ContentForm {
    /// The values of a JSON object as texts.
    package static func texts(json: String) -> [String: String] {
        guard case .object(let entries)? = try? JSONValue(parsing: json.utf8) else { return [:] }
        return entries.reduce(into: [:]) { $0[$1.name] = ContentField.text($1.value) ?? $1.value.compactText }
    }

    /// The form's values for a content; empty if it is not an object.
    package static func values(json: String) -> [String: String] {
        guard case .object(let root)? = try? JSONValue(parsing: json.utf8) else { return [:] }
        var values: [String: String] = [:]
        read(.object(root), "", onlyTexts: false, &values)
        for entry in root {
            switch (entry.name, entry.value) {
            case (missing, .string(let word)): values[missing] = word
            case (tracking, .boolean(let flag)): values[tracking] = flag ? "true" : "false"
            case (locales, .object(let variants)):
                values[locales] = variants.prefix(maxLocales).map(\.name).joined(separator: ", ")
                let more = Array(variants.dropFirst(maxLocales))
                if !more.isEmpty { values[moreLocales] = JSONValue.object(more).compactText }
                for variant in variants.prefix(maxLocales) {
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
            // In a variant, an empty value removes what would be inherited.
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
