import Content
import HTTPTypes
import PushCore
import Store

/// The third step: what it says, in a form that is made of the content's own tables of keys.
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
        // Whoever has only begun is not told what is missing.
        let isChecked = call.query["saved"] != nil
        let problems = isChecked ? composed.compiled().problems : []
        let builder = ContentFormView(form: composed.form, problems: problems, catalogue: catalogue)
        let locales = composed.form.localeNames
        let sections = composed.platforms.map { builder.section($0, composed.declared($0), locales) }
        let policies = MissingValuePolicy.allCases.map { policy -> PageValues in
            [
                "value": .text(policy.rawValue), "name": .text(catalogue[Self.name(policy)]),
                "isChosen": .flag(composed.draft.fields[ContentForm.missing] == policy.rawValue),
            ]
        }
        let general = builder.unplaced
        var warnings =
            isChecked ? (try? PushContent(json: composed.form.content().json))?.warnings.map(\.description) ?? [] : []
        if isChecked { warnings += composed.form.emptyLocales.map { catalogue.text(.localeSaysNothing, $0) } }
        return page(
            .content,
            composed,
            [
                "sections": .list(sections), "hasSections": .flag(!sections.isEmpty),
                "localeNames": .text(composed.draft.fields[ContentForm.locales] ?? ""), "policies": .list(policies),
                "parameters": .list(parameters.map { ["field": .text("{{\($0)}}")] }),
                "hasParameters": .flag(!parameters.isEmpty),
                "general": .list(general), "hasGeneral": .flag(!general.isEmpty), "isWrong": .flag(!problems.isEmpty),
                "isRight": .flag(isChecked && problems.isEmpty),
                "warnings": .list(warnings.map { ["words": .text($0)] }),
                "hasWarnings": .flag(!warnings.isEmpty),
            ]
        )
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
        let prefixes = Platform.allCases.map { $0.rawValue + "." } + ["locales."]
        for (name, value) in call.form.values where prefixes.contains(where: { name.hasPrefix($0) }) {
            // Browsers send the ends of lines as they were on the first terminals.
            let text = value.replacing("\r\n", with: "\n")
            composed.draft.fields[name] = text.isEmpty ? nil : text
        }
        for name in [ContentForm.locales, ContentForm.missing] {
            let text = (call.form[name] ?? "").trimmed
            composed.draft.fields[name] = text.isEmpty ? nil : text
        }
        let isNew = composed.form.localeNames.contains { locale in
            !call.form.values.keys.contains { $0.hasPrefix("locales.\(locale).") }
        }
        let isWrong = call.form[Field.go] == "next" && !composed.compiled().problems.isEmpty
        return try await save(call, composed, .content, stays: isNew || isWrong)
    }
}

/// The form of a content as its template shows it.
struct ContentFormView {
    let form: ContentForm
    let problems: [ContentProblem]
    let catalogue: Catalogue

    /// What most messages say is typed by its own name; other keys keep those that the content has for them.
    private static let labels: [String: Phrase] = [
        "title": .keyTitle, "subtitle": .keySubtitle, "body": .keyBody, "badge": .keyBadge, "sound": .keySound,
        "category": .keyCategory, "media_url": .keyMedia, "image": .keyMedia, "click_action": .keyClick,
        "kind": .keyKind,
        "channel_id": .keyChannel, "icon": .keyIcon, "color": .keyColor, "notification_count": .keyBadge,
        "interruption_level": .keyInterruption, "priority": .keyPriority, "more": .keyMore,
    ]

    /// The fields of a platform, with those of its application's variables, and of each locale.
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
            return [
                "locale": .text(locale),
                "fields": .list(
                    texts.map { value($0, "locales.\(locale).\(platform.rawValue).\($0.key)", like: $0, platform) }
                ),
            ]
        }
        let isOpen = others.contains { hasProblem("\(platform.rawValue).\($0.key)") }
        return [
            "platform": .text(platform.rawValue), "platformName": .text(platform == .ios ? "iOS" : "Android"),
            "main": .list(shown(fields.filter(\.isMain))), "others": .list(shown(others)), "isOpen": .flag(isOpen),
            "variables": .list(variables), "hasVariables": .flag(!variables.isEmpty), "variants": .list(variants),
            "hasVariants": .flag(!variants.isEmpty),
        ]
    }

    /// The sounds that are offered, each once: its name, which is what a message says, and what people call it.
    private func sounds(_ declared: ApplicationDeclarations) -> [(name: String, label: String)] {
        guard !declared.sounds.isEmpty else { return [] }
        let all = declared.sounds.map { ($0.name, $0.label) }
        return all.contains { $0.0 == Self.systemSound } ? all : [(Self.systemSound, catalogue[.soundDefault])] + all
    }

    /// Apple's and Google's name of the sound that the system plays for every app.
    private static let systemSound = "default"

    /// Problems that no field of the form has.
    var unplaced: [PageValues] {
        problems.filter { problem in
            !form.platforms.contains { field(problem.key, $0) != nil } && !isVariable(problem.key)
        }
        .map { ["words": .text($0.description)] }
    }

    private func isVariable(_ key: String) -> Bool {
        form.platforms.contains { platform in
            (form.variables[platform] ?? []).contains { key == "\(platform.rawValue).variables.\($0.name)" }
        }
    }

    /// The name of the field that a problem is shown at.
    private func field(_ key: String, _ platform: Platform) -> String? {
        let prefixes = [platform.rawValue] + form.localeNames.map { "locales.\($0).\(platform.rawValue)" }
        for prefix in prefixes where key.hasPrefix(prefix + ".") {
            let name = key.dropFirst(prefix.count + 1)
            let isLocalised = prefix != platform.rawValue
            let field = ContentField.fields(platform).first {
                name == $0.key || name.hasPrefix($0.key + ".") || name.hasPrefix($0.key + "[")
            }
            guard let field,
                !isLocalised || ContentField.localised.contains(field.key) || field.key == ContentField.rest
            else { continue }
            return "\(prefix).\(field.key)"
        }
        return nil
    }

    private func hasRest(_ field: ContentField, _ locale: String, _ platform: Platform) -> Bool {
        field.key == ContentField.rest && form.values["locales.\(locale).\(platform.rawValue).\(field.key)"] != nil
    }

    private func own(_ name: String) -> [ContentProblem] {
        problems.filter { problem in problem.key == name || form.platforms.contains { field(problem.key, $0) == name } }
    }

    private func hasProblem(_ name: String) -> Bool { !own(name).isEmpty }

    /// A text of a locale, with that of the content for everybody where nothing is typed.
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
            label: Self.labels[field.key].map { catalogue[$0] } ?? field.key,
            hint: hint(field.summary)
        )
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
        values["isTall"] = .flag(isTall)
        values["isLine"] = .flag(!isTall && words == nil)
        values["options"] = .list(options.map { ["value": .text($0.name), "name": .text($0.label)] })
        values["hasOptions"] = .flag(!options.isEmpty)
        return values
    }

    private func variable(_ variable: ApplicationVariable, _ platform: Platform) -> PageValues {
        let name = "\(platform.rawValue).variables.\(variable.name)"
        let label = variable.label.isEmpty ? variable.name : "\(variable.label) (\(variable.name))"
        var values = common(name, label: label, hint: hint(variable.type.words))
        values["placeholder"] = .text(variable.defaultValue ?? "")
        values["isLine"] = .flag(true)
        return values
    }

    private func hint(_ english: String) -> String { ContentHints.text(english, in: catalogue.language) }

    private func common(_ name: String, label: String, hint: String) -> PageValues {
        let problems = own(name)
        let isForeign = { (problem: ContentProblem) in problem.key != name }
        return [
            "name": .text(name), "label": .text(label), "value": .text(form.values[name] ?? ""), "hint": .text(hint),
            "hasHint": .flag(true), "isWrong": .flag(!problems.isEmpty),
            "problems": .list(
                problems.map { ["words": .text(isForeign($0) ? $0.description : "\($0.cause); \($0.remedy)")] }
            ),
        ]
    }
}
