import Content
import HTTPTypes
import PushCore
import Store

/// The fourth step: the message as an iPhone and an Android phone show it, rendered like any message of a delivery.
extension Composer {
    /// The time limit for reading one person from the view of a target mapping, which normally uses an index.
    private static let viewLimit = Duration.seconds(2)

    var previewRoutes: [ConsoleRoute] {
        [
            route(.get, "preview") { try await previewPage($0, $1) },
            route(.post, "preview") { try await saveSamples($0, $1) },
            // Not by GET, which would put a user key into proxies' logs and the browser's history.
            route(.post, "reader") { try await chooseReader($0, $1) },
            page(of: "reader", .preview),
        ]
    }

    /// The source of the fields' values: typed values, or a subscription, which may be a seed address's.
    private struct Reader {
        var values: [String: String]
        var locale: String
        /// The subscription's application; nil for typed values.
        var application: String?
        /// The reason that the subscription gets no message, in words.
        var exclusion = ""
        /// The reason that there is no preview, in words: a value of the message cannot be read.
        var problem = ""
    }

    private func previewPage(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let (_, messages, problems) = composed.compiled()
        let choices = try await responder.database.run { try await $0.composerChoices(by: call.actor) }
        let seeds = choices.seeds.filter { composed.draft.applications.contains($0.application) }
        var refused: String?
        var reader = Reader(values: composed.samples, locale: call.query["locale"] ?? "")
        do {
            reader = try await self.reader(call, composed, seeds, messages) ?? reader
        } catch let error as StoreError where error.code == .notFound {
            refused = error.message
        }
        let fields = messages.flatMap { $0.template.fields }.reduce(into: [PersonalisationField]()) { all, field in
            if !all.contains(where: { $0.name == field.name }) { all.append(field) }
        }
        let who = call.query["who"] ?? ""
        if !reader.problem.isEmpty { refused = reader.problem }
        // A value that cannot be read must not be shown as an empty text.
        let shown = reader.problem.isEmpty ? samples(messages, reader) : []
        let icons = shown.isEmpty ? ApplicationIcons() : try await ApplicationIcons.read(responder.database)
        var values: PageValues = [
            "phones": .list(shown.map { phone($0.sample, $0.message, icons) }),
            "hasProblems": .flag(!problems.isEmpty || messages.isEmpty),
            "problems": .list(problems.map { ["words": .text($0.description)] }),
            "contentPath": .text(path(composed.draft, .content) + "?saved=1"),
            "sizes": .list(reader.problem.isEmpty ? sizes(messages, reader) : []), "hasSizes": .flag(!shown.isEmpty),
            "fields": .list(fields.enumerated().map { sample($1, $0, composed) }),
            "hasFields": .flag(!fields.isEmpty && who.isEmpty), "isSaved": .flag(call.query["saved"] != nil),
        ]
        if !reader.exclusion.isEmpty { values["exclusion"] = .text(reader.exclusion) }
        // The locale of the variant that is shown. The reader's own locale may have no variant.
        let locale = shown.lazy.map(\.sample.locale).first { !$0.isEmpty } ?? (shown.isEmpty ? reader.locale : "")
        values["locales"] = .list(
            composed.form.localeNames.map {
                ["value": .text($0), "name": .text($0), "isChosen": .flag($0 == locale)]
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

    /// Redirects to the preview with the values of the chosen person. A user is represented by the id of the newest
    /// subscription.
    private func chooseReader(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let key = (call.form["key"] ?? "").trimmed
        var chosen = ["who", "number", "locale"].map { ($0, (call.form[$0] ?? "").trimmed) }
        if !key.isEmpty {
            let applications = composed.chosen.map(\.id)
            var found: Int64?
            // The index that finds it has no longer keys.
            if key.utf8.count <= DeviceRegistration.maxKeyLength {
                found = try await responder.database.run {
                    try await $0.findReader(userKey: key, applications: applications, by: call.actor)
                }
            }
            chosen = [found.map { ("number", "\($0)") } ?? ("nobody", "1")]
        } else if chosen[..<2].contains(where: { !$0.1.isEmpty }) {
            // A reader has a locale of its own.
            chosen.removeLast()
        }
        let query = chosen.filter { !$0.1.isEmpty }.map { "\($0.0)=\(SignIn.encoded($0.1))" }.joined(separator: "&")
        return .redirect(path(composed.draft, .preview) + (query.isEmpty ? "" : "?" + query))
    }

    /// The requested person, with the values for rendering a message; nil if typed values are used.
    private func reader(
        _ call: ConsoleCall,
        _ composed: ComposedDraft,
        _ seeds: [ComposerSeed],
        _ messages: [ComposedDraft.Compiled]
    ) async throws -> Reader? {
        if call.query["nobody"] != nil { throw StoreError(.notFound, catalogue[.noReader]) }
        var number: Int64?
        var seed: String?
        if let text = call.query["number"]?.trimmed, !text.isEmpty {
            guard let id = Int64(text) else { throw StoreError(.notFound, catalogue.text(.noSubscription, text)) }
            number = id
        } else {
            seed = seeds.first { call.query["who"] == "seed:" + $0.name }?.name
            if seed == nil { return nil }
        }
        let applications = composed.chosen.map(\.id)
        let areCodes = SettingsForm.isOneTimeCode(composed.draft.fields)
        let (id, found) = try await responder.database.run { [seed, number] store in
            let address = try await store.consoleReader(
                seed: seed,
                subscription: number,
                applications: applications,
                by: call.actor
            )
            let names = messages.first { $0.application.id == address.applicationID }?.template.fields.map(\.name)
            return (
                address.applicationID,
                try await store.readerValues(
                    address,
                    fields: names ?? [],
                    areOneTimeCodes: areCodes,
                    by: call.actor,
                    timeout: Self.viewLimit
                )
            )
        }
        return Reader(
            values: found.values,
            locale: found.locale,
            application: composed.chosen.first { $0.id == id }?.name,
            // For a seed address, the reason is shown where proofs are sent.
            exclusion: seed == nil ? words(of: found.decision) : "",
            problem: found.viewProblem.map(words(of:)) ?? ""
        )
    }

    private func words(of decision: LoadDecision) -> String {
        switch decision {
        case .sendable, .sendableWithErrors: ""
        case .disabled, .missing: catalogue[.subscriberDisabled]
        case .optedOut, .categoryOptedOut: catalogue[.subscriberOptedOut]
        case .quarantined: catalogue[.subscriberQuarantine]
        }
    }

    private func words(of problem: LoadProblem) -> String {
        problem.isTimeout ? catalogue[.readerViewSlow] : catalogue.text(.readerViewProblem, problem.text)
    }

    /// A message for each platform: of the reader's application, or of the first one.
    private func samples(_ messages: [ComposedDraft.Compiled], _ reader: Reader)
        -> [(sample: MessageSample, message: ComposedDraft.Compiled)]
    {
        Platform.allCases.compactMap { platform in
            let ofPlatform = messages.filter { $0.application.platform == platform }
            guard
                reader.application == nil || ofPlatform.contains(where: { $0.application.name == reader.application }),
                let message = ofPlatform.first(where: { $0.application.name == reader.application }) ?? ofPlatform.first
            else { return nil }
            return (message.template.sample(values: reader.values, locale: reader.locale), message)
        }
    }

    private func phone(_ sample: MessageSample, _ compiled: ComposedDraft.Compiled, _ icons: ApplicationIcons)
        -> PageValues
    {
        let application = compiled.application
        let message = PhoneMessage(sample.payload, application.platform)
        let app = application.label.isEmpty ? application.name : application.label
        var values: PageValues = [
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
        if compiled.template.isLocalised {
            values["variant"] = .text(sample.locale.isEmpty ? catalogue[.localeEverybody] : sample.locale)
        }
        icons.add(to: &values, application.name)
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
