import Content
import HTTPTypes
import PushCore
import Store

/// The fourth step: the message as an iPhone and an Android phone show it, rendered as each message of a delivery is.
extension Composer {
    var previewRoutes: [ConsoleRoute] {
        [
            route(.get, "preview") { try await previewPage($0, $1) },
            route(.post, "preview") { try await saveSamples($0, $1) },
            // Not by GET: a user key would stand in logs of proxies and in the browser's history.
            route(.post, "reader") { try await chooseReader($0, $1) },
        ]
    }

    /// Whose values stand for the fields: those that were typed, those of a seed address, or those of a subscription.
    private struct Reader {
        var values: [String: String]
        var locale: String
        /// The application that it belongs to; nil for values that were typed.
        var application: String?
    }

    private func previewPage(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let (_, messages, problems) = composed.compiled()
        let choices = try await responder.database.run { try await $0.composerChoices(by: call.actor) }
        let seeds = choices.seeds.filter { composed.draft.applications.contains($0.application) }
        var refused: String?
        var reader = Reader(values: composed.samples, locale: call.query["locale"] ?? "")
        do {
            reader = try await self.reader(call, composed, seeds) ?? reader
        } catch let error as StoreError where error.code == .notFound {
            refused = error.message
        }
        let fields = messages.flatMap { $0.template.fields }.reduce(into: [PersonalisationField]()) { all, field in
            if !all.contains(where: { $0.name == field.name }) { all.append(field) }
        }
        let who = call.query["who"] ?? ""
        var values: PageValues = [
            "phones": .list(phones(messages, reader)), "hasProblems": .flag(!problems.isEmpty || messages.isEmpty),
            "problems": .list(problems.map { ["words": .text($0.description)] }),
            "contentPath": .text(path(composed.draft, .content) + "?saved=1"), "sizes": .list(sizes(messages, reader)),
            "hasSizes": .flag(!messages.isEmpty), "fields": .list(fields.enumerated().map { sample($1, $0, composed) }),
            "hasFields": .flag(!fields.isEmpty && who.isEmpty), "isSaved": .flag(call.query["saved"] != nil),
        ]
        values["locales"] = .list(
            composed.form.localeNames.map {
                ["value": .text($0), "name": .text($0), "isChosen": .flag($0 == reader.locale)]
            }
        )
        values["people"] = .list(
            seeds.map { seed in
                let word = "seed:" + seed.name
                let words = seed.label.isEmpty ? seed.name : "\(seed.name) · \(seed.label)"
                return ["value": .text(word), "name": .text(words), "isChosen": .flag(who == word)]
            }
        )
        values["number"] = .text(call.query["number"] ?? "")
        return page(.preview, composed, values, problem: refused)
    }

    /// Leads to the preview with the values of whoever was chosen: a user by the number of the newest subscription.
    private func chooseReader(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let key = (call.form["key"] ?? "").trimmed
        var chosen = ["who", "number", "locale"].map { ($0, (call.form[$0] ?? "").trimmed) }
        if !key.isEmpty {
            let applications = composed.chosen.map(\.id)
            var found: Int64?
            // The index that finds it holds no longer one.
            if key.utf8.count <= DeviceRegistration.longestKey {
                found = try await responder.database.run {
                    try await $0.findReader(userKey: key, applications: applications, by: call.actor)
                }
            }
            chosen = [found.map { ("number", "\($0)") } ?? ("nobody", "1"), chosen[2]]
        }
        let query = chosen.filter { !$0.1.isEmpty }.map { "\($0.0)=\(SignIn.encoded($0.1))" }.joined(separator: "&")
        return .redirect(path(composed.draft, .preview) + (query.isEmpty ? "" : "?" + query))
    }

    /// Who was asked for; nil for the values that were typed.
    private func reader(_ call: ConsoleCall, _ composed: ComposedDraft, _ seeds: [ComposerSeed]) async throws -> Reader?
    {
        if call.query["nobody"] != nil { throw StoreError(.notFound, catalogue[.noReader]) }
        if let number = call.query["number"]?.trimmed, !number.isEmpty {
            guard let id = Int64(number) else { throw StoreError(.notFound, catalogue.text(.noSubscription, number)) }
            let applications = composed.chosen.map(\.id)
            let found = try await responder.database.run {
                try await $0.previewValues(subscription: id, applications: applications, by: call.actor)
            }
            let application = composed.chosen.first { $0.id == found.application }?.name
            return Reader(values: found.values, locale: found.locale, application: application)
        }
        guard let who = call.query["who"], let seed = seeds.first(where: { who == "seed:" + $0.name }) else {
            return nil
        }
        let values = ContentForm.texts(json: seed.variables)
        return Reader(values: values, locale: seed.locale, application: seed.application)
    }

    /// The phones: one for each platform, of the application that the reader has, or of the first.
    private func phones(_ messages: [ComposedDraft.Compiled], _ reader: Reader) -> [PageValues] {
        Platform.allCases.compactMap { platform in
            let ofPlatform = messages.filter { $0.application.platform == platform }
            guard
                reader.application == nil || ofPlatform.contains(where: { $0.application.name == reader.application }),
                let message = ofPlatform.first(where: { $0.application.name == reader.application }) ?? ofPlatform.first
            else { return nil }
            let sample = message.template.sample(values: reader.values, locale: reader.locale)
            return phone(sample, message.application)
        }
    }

    private func phone(_ sample: MessageSample, _ application: ApplicationRow) -> PageValues {
        let message = PhoneMessage(sample.payload, application.platform)
        let app = application.label.isEmpty ? application.name : application.label
        let values: PageValues = [
            "app": .text(app), "letter": .text(String(app.prefix(1)).uppercased()),
            "messageTitle": .text(message.title),
            "hasTitle": .flag(!message.title.isEmpty), "subtitle": .text(message.subtitle),
            "hasSubtitle": .flag(!message.subtitle.isEmpty), "body": .text(message.body), "image": .text(message.image),
            "hasImage": .flag(!message.image.isEmpty), "badge": .text(message.badge),
            "hasBadge": .flag(!message.badge.isEmpty && message.badge != "0"), "category": .text(message.category),
            "hasCategory": .flag(!message.category.isEmpty), "link": .text(message.link),
            "hasLink": .flag(!message.link.isEmpty),
            "isShown": .flag(message.isShown), "missing": .text(sample.missingField ?? ""),
            "isLeftOut": .flag(sample.missingField != nil), "size": .text(Figures.count(Int64(sample.size))),
            "limit": .text(Figures.count(Int64(sample.limit))), "isTooLong": .flag(sample.size > sample.limit),
            "payload": .text(sample.payload.compactText), "phoneID": .text(application.platform.rawValue),
        ]
        return [application.platform.rawValue: .group(values)]
    }

    /// The size of each application's message in each locale.
    private func sizes(_ messages: [ComposedDraft.Compiled], _ reader: Reader) -> [PageValues] {
        messages.flatMap { message in
            message.template.locales.map { locale in
                let sample = message.template.sample(values: reader.values, locale: locale)
                return [
                    "application": .text(message.application.name),
                    "locale": .text(locale.isEmpty ? catalogue[.localeEverybody] : locale),
                    "size": .text(Figures.count(Int64(sample.size))),
                    "limit": .text(Figures.count(Int64(sample.limit))),
                    "isTooLong": .flag(sample.size > sample.limit),
                    "bar": .drawing(
                        Bar.markup([
                            (
                                Double(sample.size) / Double(max(sample.limit, 1)),
                                sample.size > sample.limit ? "s-failed" : "s-sent"
                            )
                        ])
                    ),
                ]
            }
        }
    }

    private func sample(_ field: PersonalisationField, _ place: Int, _ composed: ComposedDraft) -> PageValues {
        let name = ComposedDraft.Name.sample + field.name
        return [
            "name": .text(name), "fieldID": .text("sample-\(place)"), "label": .text(field.name),
            "value": .text(composed.draft.fields[name] ?? ""), "placeholder": .text(field.defaultValue ?? ""),
        ]
    }

    private func saveSamples(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        var composed = composed
        for (name, value) in call.form.values where name.hasPrefix(ComposedDraft.Name.sample) {
            composed.draft.fields[name] = value.isEmpty ? nil : value
        }
        return try await save(call, composed, .preview)
    }
}
