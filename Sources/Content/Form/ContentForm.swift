import PushCore

/// What somebody has typed into the form of a content, and the content that it makes.
///
/// Values have the names that problems of a content have: `ios.title`, `android.variables.screen`, `locales.fr.ios.body`; so each
/// problem finds its field. What the form cannot show of a content is kept in `ios.more`, as JSON.
public struct ContentForm: Sendable, Hashable {
    /// The name of the value with the locales, one after the other.
    public static let locales = "locales"
    /// The name of the value that says what becomes of messages without a value for a field.
    public static let missing = "missing"
    /// Locales of a content that is written in a form: each is a column of it.
    public static let mostLocales = 8

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
        let locales = localeNames.map { locale in
            let sections = platforms.compactMap { platform -> JSONEntry? in
                let own = section(platform, locale: locale, &problems)
                return own.isEmpty ? nil : JSONEntry(name: platform.rawValue, value: .object(own))
            }
            return JSONEntry(name: locale, value: .object(sections))
        }
        if !locales.isEmpty { entries.append(JSONEntry(name: "locales", value: .object(locales))) }
        if let missing = values[Self.missing], !missing.isEmpty {
            entries.append(JSONEntry(name: "missing", value: .string(missing)))
        }
        let json = JSONValue.object(entries).compactText
        return (json, problems + PushContent.validate(json: json))
    }

    private func section(_ platform: Platform, _ problems: inout [ContentProblem]) -> [JSONEntry] {
        let path = platform.rawValue
        var entries = ContentKey.keys(platform).compactMap { key -> JSONEntry? in
            // A text keeps its blanks: they may be meant.
            guard let text = values["\(path).\(key.name)"], let value = ContentField.value(text, of: key.kind) else {
                return nil
            }
            return JSONEntry(name: key.name, value: value)
        }
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

    /// What a locale's variant says itself; the rest it takes from the content for everybody, by the one rule of contents.
    private func section(_ platform: Platform, locale: String, _ problems: inout [ContentProblem]) -> [JSONEntry] {
        let path = "locales.\(locale).\(platform.rawValue)"
        let entries = ContentKey.keys(platform).compactMap { key -> JSONEntry? in
            guard ContentField.localised.contains(key.name), let text = values["\(path).\(key.name)"],
                let value = ContentField.value(text, of: key.kind)
            else { return nil }
            return JSONEntry(name: key.name, value: value)
        }
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
        for entry in root {
            switch (entry.name, entry.value) {
            case (missing, .string(let word)): values[missing] = word
            case (locales, .object(let variants)):
                values[locales] = variants.map(\.name).joined(separator: ", ")
                for variant in variants { read(variant.value, "locales.\(variant.name).", onlyTexts: true, &values) }
            default: break
            }
        }
        read(.object(root), "", onlyTexts: false, &values)
        return values
    }

    private static func read(_ value: JSONValue, _ prefix: String, onlyTexts: Bool, _ values: inout [String: String]) {
        guard case .object(let sections) = value else { return }
        for section in sections {
            guard let platform = Platform(rawValue: section.name), case .object(let entries) = section.value else {
                continue
            }
            let path = prefix + platform.rawValue
            let known = ContentField.fields(platform).filter { !onlyTexts || ContentField.localised.contains($0.key) }
            let names = Set(known.map(\.key)).subtracting([ContentField.rest])
            var more: [JSONEntry] = []
            // In a variant null says something: that it does not have what the content for everybody has.
            for entry in entries where onlyTexts || entry.value != .null {
                if names.contains(entry.name), let text = ContentField.text(entry.value) {
                    values["\(path).\(entry.name)"] = text
                } else {
                    more.append(entry)
                }
            }
            if !more.isEmpty { values["\(path).\(ContentField.rest)"] = JSONValue.object(more).compactText }
        }
    }
}
