import Content
import PushCore
import Store

/// The values of the page's template for the form of a content.
struct ContentFormView {
    let form: ContentForm
    /// The largest payload of each platform, in bytes.
    let limits: [Platform: Int]
    let catalogue: Catalogue
    /// The problems, by the name of the field where each is shown.
    private let placed: [String: [ContentProblem]]
    /// The problems that belong to no field of the form, but may belong to a platform.
    let unplaced: [PageValues]
    /// The problems of a platform as a whole.
    private let sections: [Platform: [PageValues]]

    init(form: ContentForm, problems: [ContentProblem], limits: [Platform: Int], catalogue: Catalogue) {
        self.form = form
        self.limits = limits
        self.catalogue = catalogue
        let names = Self.names(form)
        var placed: [String: [ContentProblem]] = [:]
        var unplaced: [PageValues] = []
        var sections: [Platform: [PageValues]] = [:]
        for problem in problems {
            if let name = Self.name(problem.key, in: names) {
                placed[name, default: []].append(problem)
            } else if let platform = Platform(rawValue: problem.key), form.platforms.contains(platform) {
                let words = Self.isEmpty(form, platform) ? catalogue[.contentEmpty] : Self.words(problem)
                sections[platform, default: []].append(["words": .text(words.capitalisedFirst)])
            } else {
                unplaced.append(["words": .text(problem.description)])
            }
        }
        self.placed = placed
        self.unplaced = unplaced
        self.sections = sections
    }

    /// A problem without the name of its key.
    static func words(_ problem: ContentProblem) -> String { "\(problem.cause); \(problem.remedy)" }

    /// Whether nothing is typed that a platform could show or pass on.
    private static func isEmpty(_ form: ContentForm, _ platform: Platform) -> Bool {
        let keys = counted.union(["template.type", ContentField.rest])
        let path = platform.rawValue + "."
        return !form.values.contains { name, text in
            guard name.hasPrefix(path), !text.isEmpty else { return false }
            let key = String(name.dropFirst(path.count))
            return keys.contains(key) || key.hasPrefix("variables.")
        }
    }

    /// Whether each problem is shown at a field.
    var areAllPlaced: Bool { unplaced.isEmpty && sections.isEmpty }

    /// The problems of the field with the locales.
    var localeProblems: [PageValues] { problems(at: ContentForm.locales) }

    /// Labels for the most common keys; other keys are shown with their names in the content.
    private static let labels: [String: Phrase] = [
        "title": .keyTitle, "subtitle": .keySubtitle, "body": .keyBody, "badge": .keyBadge, "sound": .keySound,
        "sound.critical": .keyCritical, "sound.volume": .keyVolume, "relevance_percent": .keyRelevance,
        "template.type": .keyTemplate,
        "category": .keyCategory, "media_url": .keyMedia, "image": .keyMedia, "click_action": .keyClick,
        "kind": .keyKind,
        "channel_id": .keyChannel, "icon": .keyIcon, "color": .keyColor, "notification_count": .keyBadge,
        "interruption_level": .keyInterruption, "priority": .keyPriority, "more": .keyMore,
    ]

    static func label(_ key: String, _ catalogue: Catalogue) -> String { labels[key].map { catalogue[$0] } ?? key }

    /// The key without which a recall cannot replace a message.
    static func replacingKey(_ platform: Platform) -> String { platform == .ios ? "collapse_id" : "tag" }

    static func label(_ variable: ApplicationVariable) -> String {
        variable.label.isEmpty ? variable.name : "\(variable.label) (\(variable.name))"
    }

    /// The fields of a platform, of its application's variables, and of each locale.
    func section(_ platform: Platform, _ declared: ApplicationDeclarations, _ locales: [String]) -> PageValues {
        let fields = ContentField.fields(platform)
        let sounds = sounds(declared)
        func shown(_ fields: [ContentField]) -> [PageValues] {
            fields.map { field in
                value(field, "\(platform.rawValue).\(field.key)", options: field.key == "sound" ? sounds : [])
            }
        }
        let others = fields.filter { !$0.isMain }
        let variables = declared.variables.map { variable($0, platform) }
        let variants = locales.map { locale -> PageValues in
            let texts = fields.filter { ContentField.localised.contains($0.key) || hasRest($0, locale, platform) }
            let own: PageValues = [
                "locale": .text(locale),
                "fields": .list(
                    texts.map { value($0, "locales.\(locale).\(platform.rawValue).\($0.key)", like: $0, platform) }
                ),
                "hasTemplate": .flag(form.templateType(platform) != nil),
                "isTemplateOpen": .flag(
                    placed.keys.contains { $0.hasPrefix("locales.\(locale).\(platform.rawValue).template.") }
                ),
            ]
            return own.merging(template(platform, locale: locale)) { own, _ in own }
        }
        let isOpen = others.contains { placed["\(platform.rawValue).\($0.key)"] != nil }
        let section: PageValues = [
            "platform": .text(platform.rawValue), "platformName": .text(platform == .ios ? "iOS" : "Android"),
            "main": .list(shown(fields.filter(\.isMain))), "others": .list(shown(others)), "isOpen": .flag(isOpen),
            "sectionProblems": .list(sections[platform] ?? []),
            "variables": .list(variables), "hasVariables": .flag(!variables.isEmpty), "variants": .list(variants),
            "hasVariants": .flag(!variants.isEmpty),
        ]
        return section.merging(template(platform)) { own, _ in own }
    }

    /// The sounds to offer: for each, the name in the message and the label.
    private func sounds(_ declared: ApplicationDeclarations) -> [(name: String, label: String)] {
        guard !declared.sounds.isEmpty else { return [] }
        let all = declared.sounds.map { ($0.name, $0.label) }
        return all.contains { $0.0 == Self.systemSound } ? all : [(Self.systemSound, catalogue[.soundDefault])] + all
    }

    /// Apple's and Google's name for the system's default sound.
    private static let systemSound = "default"

    /// The choice of a rich template, and the fields of the chosen one. A variant has fields for its own texts, but no
    /// choice.
    private func template(_ platform: Platform, locale: String? = nil) -> PageValues {
        let (fields, lists) = ContentField.template(platform, type: form.templateType(platform) ?? "")
        let path = (locale.map { "locales.\($0)." } ?? "") + platform.rawValue
        func shown(_ fields: [ContentField]) -> PageValue {
            .list(
                fields.map { field in
                    let name = "\(path).\(field.key)"
                    return locale == nil ? value(field, name) : value(field, name, like: field, platform)
                }
            )
        }
        let type = locale == nil ? ContentField.templateType(platform) : nil
        return [
            "templateType": shown(type.map { [$0] } ?? []), "templateFields": shown(fields),
            "templateLists": .list(
                lists.map { list in
                    let name = list.key.split(separator: ".").last.map(String.init) ?? list.key
                    return [
                        "listName": .text(name), "listHint": .text(hint(of: list)),
                        "listProblems": .list(problems(at: "\(path).\(list.key)")),
                        "rows": .list(
                            list.rows.enumerated().map {
                                ["rowName": .text("\(name) \($0 + 1)"), "rowFields": shown($1)]
                            }
                        ),
                    ]
                }
            ),
        ]
    }

    /// The description of a list, and the allowed number of objects.
    private func hint(of list: ContentField.List) -> String {
        let (minimum, maximum) = ("\(list.count.lowerBound)", "\(list.count.upperBound)")
        let count = minimum == maximum ? maximum : catalogue.text(.listCount, minimum, maximum)
        return "\(hint(list.summary)) (\(count))" + (list.isRequired ? " " + catalogue[.fieldRequired] : "")
    }

    /// The names of a form's fields. A list has one, too, because a wrong number of objects belongs to none of their
    /// fields.
    private static func names(_ form: ContentForm) -> Set<String> {
        form.platforms.reduce(into: [ContentForm.locales]) { names, platform in
            let path = platform.rawValue
            let (fields, lists) = ContentField.template(platform, type: form.templateType(platform) ?? "")
            let inLists = lists.flatMap { [$0.key] + $0.rows.joined().map(\.key) }
            let variables = (form.variables[platform] ?? []).map { "variables.\($0.name)" }
            var keys = ContentField.fields(platform).map(\.key) + fields.map(\.key) + inLists + variables
            if form.templateType(platform) != nil, let type = ContentField.templateType(platform) {
                keys.append(type.key)
            }
            names.formUnion(keys.map { "\(path).\($0)" })
            let own = ContentField.localised.union([ContentField.rest] + fields.map(\.key) + inLists)
            for locale in form.localeNames {
                names.formUnion(own.map { "locales.\(locale).\(path).\($0)" })
            }
        }
    }

    /// The name of the field where a problem is shown: its own, or that of the value that contains it.
    private static func name(_ key: String, in names: Set<String>) -> String? {
        var key = key[...]
        while !names.contains(String(key)) {
            guard let end = key.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            key = key[..<end]
        }
        return String(key)
    }

    private func hasRest(_ field: ContentField, _ locale: String, _ platform: Platform) -> Bool {
        field.key == ContentField.rest && form.values["locales.\(locale).\(platform.rawValue).\(field.key)"] != nil
    }

    /// A text of a locale; the main content's text is its placeholder.
    private func value(_ field: ContentField, _ name: String, like base: ContentField, _ platform: Platform)
        -> PageValues
    {
        var values = value(field, name)
        values["placeholder"] = .text(form.values["\(platform.rawValue).\(base.key)"] ?? "")
        values["hasHint"] = .flag(false)
        return values
    }

    private func value(_ field: ContentField, _ name: String, options: [(name: String, label: String)] = [])
        -> PageValues
    {
        var values = common(
            name,
            label: Self.labels[field.key].map { catalogue[$0] } ?? field.name,
            hint: hint(field.summary) + (field.isRequired ? " " + catalogue[.fieldRequired] : "")
        )
        if form.platforms.contains(where: { name == "\($0.rawValue).\(Self.replacingKey($0))" }) {
            values["hint"] = .text("\(hint(field.summary)) \(catalogue[.keyReplaceable])")
        }
        let text = form.values[name] ?? ""
        let isTall = [.paragraph, .lines, .json].contains(field.input)
        let words: [(String, String)]? =
            switch field.input {
            case .flag: [("true", catalogue[.choiceYes]), ("false", catalogue[.choiceNo])]
            case .choice(let words): words.map { ($0, $0) }
            default: nil
            }
        if let words {
            let all = [("", catalogue[.choiceNone])] + words
            values["choice"] = .group([
                "words": .list(
                    all.map { ["value": .text($0.0), "name": .text($0.1), "isChosen": .flag($0.0 == text)] }
                )
            ])
        }
        values["counter"] = counter(field, name)
        values["isTall"] = .flag(isTall)
        values["isLine"] = .flag(!isTall && words == nil)
        values["options"] = .list(options.map { ["value": .text($0.name), "name": .text($0.label)] })
        values["hasOptions"] = .flag(!options.isEmpty)
        return values
    }

    /// The texts whose length is counted while they are typed.
    private static let counted: Set<String> = ["title", "subtitle", "body"]

    /// What counts the characters and bytes of a text; nil for other fields.
    private func counter(_ field: ContentField, _ name: String) -> PageValue? {
        guard Self.counted.contains(field.key),
            let platform = form.platforms.first(where: { name.hasSuffix("\($0.rawValue).\(field.key)") }),
            let limit = limits[platform]
        else { return nil }
        return TextCounter(limit: limit).values(of: name, catalogue)
    }

    private func variable(_ variable: ApplicationVariable, _ platform: Platform) -> PageValues {
        let name = "\(platform.rawValue).variables.\(variable.name)"
        var values = common(name, label: Self.label(variable), hint: hint(variable.type.words))
        values["placeholder"] = .text(variable.defaultValue ?? "")
        values["isLine"] = .flag(true)
        return values
    }

    private func hint(_ english: String) -> String { catalogue.word(english) }

    private func common(_ name: String, label: String, hint: String) -> PageValues {
        let problems = problems(at: name)
        return [
            "name": .text(name), "label": .text(label), "value": .text(form.values[name] ?? ""), "hint": .text(hint),
            "hasHint": .flag(true), "isWrong": .flag(!problems.isEmpty), "problems": .list(problems),
        ]
    }

    /// The problems at a field. If the cause is not the field itself, the text names it.
    private func problems(at name: String) -> [PageValues] {
        (placed[name] ?? []).map {
            ["words": .text($0.key == name ? Self.words($0) : $0.description)]
        }
    }
}
