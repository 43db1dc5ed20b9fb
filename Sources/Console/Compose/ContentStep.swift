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
                "localeProblems": .list(builder.localeProblems),
                "areLocalesWrong": .flag(!builder.localeProblems.isEmpty),
                "wrongWords": .text(catalogue[builder.areAllPlaced ? .contentWrong : .contentWrongAll]),
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

    func name(_ platform: Platform) -> String {
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
