import Content
import HTTPTypes
import PushCore
import Store

/// The third step: the content, in a form that is built from the content's tables of keys.
extension Composer {
    var contentRoutes: [ConsoleRoute] {
        [
            route(.get, "content") { try await contentPage($0, $1) },
            route(.post, "content") { try await saveContent($0, $1) },
        ]
    }

    private func contentPage(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let chosen = composed.chosen.map(\.name)
        let parameters = try await responder.database.run { store in
            var names: [String] = []
            for name in chosen {
                let declared = (try? await store.declarations(application: name))?.parameters.map(\.name) ?? []
                names += declared.filter { !names.contains($0) }
            }
            return names
        }
        // Until the form is saved once, missing values are not reported.
        let isChecked = call.query["saved"] != nil
        let problems = isChecked ? composed.compiled().problems : []
        let builder = ContentFormView(
            form: composed.form,
            problems: problems,
            limits: composed.payloadLimits,
            catalogue: catalogue
        )
        let locales = composed.form.localeNames
        let sections = composed.platforms.map { platform in
            builder.section(platform, composed.declared(platform), locales)
                .merging(copyButton(from: platform, composed, copied: call.query[Self.copied])) { own, _ in own }
        }
        let policies = MissingValuePolicy.allCases.map { policy -> PageValues in
            [
                "value": .text(policy.rawValue), "name": .text(catalogue[Self.name(policy)]),
                "isChosen": .flag(composed.draft.fields[ContentForm.missing] == policy.rawValue),
            ]
        }
        let ids = [("true", Phrase.choiceYes), ("false", .choiceNo)].map { word, phrase -> PageValues in
            [
                "value": .text(word), "name": .text(catalogue[phrase]),
                "isChosen": .flag(composed.draft.fields[ContentForm.tracking] == word),
            ]
        }
        let general = builder.unplaced
        var warnings =
            isChecked ? (try? PushContent(json: composed.form.content().json))?.warnings.map(\.description) ?? [] : []
        if isChecked { warnings += composed.form.emptyLocales.map { catalogue.text(.localeSaysNothing, $0) } }
        warnings += notCopied(call.query[Self.copied], composed)
        return page(
            .content,
            composed,
            [
                "sections": .list(sections), "hasSections": .flag(!sections.isEmpty),
                "localeNames": .text(composed.draft.fields[ContentForm.locales] ?? ""), "policies": .list(policies),
                "ids": .list(ids),
                "parameters": .list(parameters.map { ["field": .text("{{\($0)}}")] }),
                "hasParameters": .flag(!parameters.isEmpty),
                "general": .list(general), "hasGeneral": .flag(!general.isEmpty), "isWrong": .flag(!problems.isEmpty),
                "wrongWords": .text(catalogue[general.isEmpty ? .contentWrong : .contentWrongAll]),
                "isRight": .flag(isChecked && problems.isEmpty),
                "warnings": .list(warnings.map { ["words": .text($0)] }),
                "hasWarnings": .flag(!warnings.isEmpty),
            ]
        )
    }

    /// The value in the address after a copy: the platform that was copied.
    private static let copied = "copied"
    /// The prefixes of the values of the buttons that copy: what the other platform says stays, or is overwritten.
    private static let (copies, overwrites) = ("copy.", "overwrite.")

    /// The platform that a draft goes to besides this one.
    private func other(_ platform: Platform, _ composed: ComposedDraft) -> Platform? {
        composed.platforms.first { $0 != platform }
    }

    private func name(_ platform: Platform) -> String {
        catalogue[platform == .ios ? .platformIOS : .platformAndroid]
    }

    /// What was not copied from a platform to the other one, in words: what the other one says itself, and what it lacks.
    private func notCopied(_ platform: String?, _ composed: ComposedDraft) -> [String] {
        guard let source = platform.flatMap(Platform.init(rawValue:)), let goal = other(source, composed) else {
            return []
        }
        let kept = composed.form.kept(from: source, to: goal).map { key, locale in
            label(key, composed.declared(goal)) + (locale.isEmpty ? "" : " (\(locale))")
        }
        let left = composed.form.keysMissing(on: goal, of: source).map { label($0, composed.declared(source)) }
        return [(Phrase.copyKept, kept), (.copyLeft, left)].filter { !$0.1.isEmpty }
            .map { catalogue.text($0.0, name(goal), $0.1.joined(separator: ", ")) }
    }

    /// The label of a field of the content, or of a variable of the application.
    private func label(_ key: String, _ declared: ApplicationDeclarations) -> String {
        guard key.hasPrefix("variables.") else { return ContentFormView.label(key, catalogue) }
        let name = String(key.dropFirst("variables.".count))
        return declared.variables.first { $0.name == name }.map { ContentFormView.label($0) } ?? name
    }

    /// The button that copies what a platform says to the other one; after a copy that kept something there, also one
    /// that overwrites it.
    private func copyButton(from platform: Platform, _ composed: ComposedDraft, copied: String?) -> PageValues {
        guard let goal = other(platform, composed) else { return [:] }
        let isKept = copied == platform.rawValue && !composed.form.kept(from: platform, to: goal).isEmpty
        return [
            "copy": .group([
                "copyValue": .text(Self.copies + platform.rawValue),
                "copyLabel": .text(catalogue.text(.copyContent, name(goal))), "isKept": .flag(isKept),
                "overwriteValue": .text(Self.overwrites + platform.rawValue),
                "overwriteLabel": .text(catalogue.text(.copyOverwrite, name(goal))),
            ])
        ]
    }

    private static func name(_ policy: MissingValuePolicy) -> Phrase {
        switch policy {
        case .default: .missingDefault
        case .empty: .missingEmpty
        case .exclude: .missingExclude
        }
    }

    private func saveContent(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        var composed = composed
        let before = Platform.allCases.map { composed.form.templateType($0) }
        let prefixes = Platform.allCases.map { $0.rawValue + "." } + ["locales."]
        for (name, value) in call.form.values where prefixes.contains(where: { name.hasPrefix($0) }) {
            // Browsers send line breaks as CR LF.
            let text = value.replacing("\r\n", with: "\n")
            composed.draft.fields[name] = text.isEmpty ? nil : text
        }
        for name in [ContentForm.locales, ContentForm.missing, ContentForm.tracking] {
            let text = (call.form[name] ?? "").trimmed
            composed.draft.fields[name] = text.isEmpty ? nil : text
        }
        let go = call.form[Field.go] ?? ""
        if let prefix = [Self.copies, Self.overwrites].first(where: { go.hasPrefix($0) }),
            let source = Platform(rawValue: String(go.dropFirst(prefix.count))), let goal = other(source, composed)
        {
            let copied = composed.form.copied(from: source, to: goal, overwrites: prefix == Self.overwrites)
            composed.draft.fields = copied.values
            _ = try await save(call, composed, .content, stays: true)
            return .redirect(path(composed.draft, .content) + "?saved=1&\(Self.copied)=\(source.rawValue)")
        }
        // If the change adds fields that the page has not shown, the draft stays at this step.
        let isNew =
            before != Platform.allCases.map { composed.form.templateType($0) }
            || composed.form.localeNames.contains { locale in
                !call.form.values.keys.contains { $0.hasPrefix("locales.\(locale).") }
            }
        let isWrong = call.form[Field.go] == "next" && !composed.compiled().problems.isEmpty
        return try await save(call, composed, .content, stays: isNew || isWrong)
    }
}

/// The values of the page's template for the form of a content.
struct ContentFormView {
    let form: ContentForm
    /// The largest payload of each platform, in bytes.
    let limits: [Platform: Int]
    let catalogue: Catalogue
    /// The problems, by the name of the field where each is shown.
    private let placed: [String: [ContentProblem]]
    /// The problems that belong to no field of the form.
    let unplaced: [PageValues]

    init(form: ContentForm, problems: [ContentProblem], limits: [Platform: Int], catalogue: Catalogue) {
        self.form = form
        self.limits = limits
        self.catalogue = catalogue
        let names = Self.names(form)
        var placed: [String: [ContentProblem]] = [:]
        var unplaced: [PageValues] = []
        for problem in problems {
            if let name = Self.name(problem.key, in: names) {
                placed[name, default: []].append(problem)
            } else {
                unplaced.append(["words": .text(problem.description)])
            }
        }
        self.placed = placed
        self.unplaced = unplaced
    }

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
        form.platforms.reduce(into: []) { names, platform in
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
        if field.key == ContentField.rest, let platform = form.platforms.first(where: { name.hasPrefix($0.rawValue) }) {
            let key = catalogue.text(.keyReplaceable, Self.replacingKey(platform))
            values["hint"] = .text("\(hint(field.summary)) \(key)")
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
        // The script fills in both numbers.
        let words = catalogue.text(.counterWords, "{0}", "{1}", Figures.count(Int64(limit)))
        return .group(["limit": .text("\(limit)"), "words": .text(words)])
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
            ["words": .text($0.key == name ? "\($0.cause); \($0.remedy)" : $0.description)]
        }
    }
}
