import Content
import HTTPTypes
import PushCore
import Store

/// The form that recalls a delivery.
struct RecallPage: Sendable {
    let responder: ConsoleResponder

    private static let longestReason = 2_000

    /// Whether a delivery was sent to anybody, or may still be, so that a recall has an effect.
    static func isRecallable(_ row: DeliveryProgress) -> Bool {
        guard row.startedAt != nil else { return false }
        // One that is recalled already can be recalled again once its replacement has ended.
        return !row.state.isFinal || row.state == .recalled || row.sent + row.unknown + row.pending > 0
    }

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// The names of the fields.
    private enum Name {
        static let reason = "reason"
        static let mode = "mode"
        static let title = "title"
        static let body = "body"
    }

    var routes: [ConsoleRoute] {
        let path = "/deliveries/{id}/\(DeliveryAction.recall.rawValue)"
        // The database knows whose delivery it is.
        return [
            ConsoleRoute(.get, path, .role(.marketing)) { try await show($0) },
            ConsoleRoute(.post, path, .role(.marketing)) { try await recall($0) },
        ]
    }

    /// What the form depends on.
    private struct Facts {
        let id: Int64
        let progress: DeliveryProgress
        /// The platforms on which the messages can be replaced.
        let platforms: [Platform]
        /// The locales that its content has variants for.
        let locales: [String]
        /// The applications on these platforms.
        let applications: [(row: ApplicationRow, connector: Connector?)]
        /// The delivery whose messages this one replaces or removes; nil if it is no recall.
        let recalled: Int64?
        /// Whether the user may recall it, whatever its state.
        let isAllowed: Bool
        /// The delivery that is replacing or removing the messages.
        let child: Int64?
        /// The delivery of the recall before, if it has begun.
        let begun: Int64?
        /// Above how many messages a replacement needs an approval; nil if no service asks for one.
        let approvalAbove: Int64?
        /// The recall before; nil if there was none.
        let before: (report: RecallReport, texts: [String: String])?

        /// The smallest maximum of the payloads, in bytes; nil if nobody knows it.
        var payloadLimit: Int? {
            applications.map { PayloadLimits.limit(format: $0.row.format(over: $0.connector), pushType: .alert) }.min()
        }
    }

    private func facts(_ call: ConsoleCall) async throws -> Facts {
        let id = try call.number("id")
        return try await responder.database.run { store in
            let values = ContentForm.values(json: try await store.content(ofDelivery: id))
            let services = try await store.servicesOfApplications()
            let names = try await store.applicationNames(ofDeliveries: [id])[id] ?? []
            let own = Set(names.compactMap { services[$0] })
            let connectors = Dictionary(uniqueKeysWithValues: try await store.accounts().map { ($0.id, $0.connector) })
            let platforms = try await store.replaceablePlatforms(ofDelivery: id)
            let applications = try await store.applications()
                .filter { names.contains($0.name) && platforms.contains($0.platform) }
                .map { row in (row: row, connector: row.accountID.flatMap { connectors[$0] }) }
            var before: (report: RecallReport, texts: [String: String])?
            var begun: Int64?
            if let report = try await store.recallReport(ofDelivery: id) {
                var content = "{}"
                if let child = report.child {
                    content = try await store.content(ofDelivery: child)
                    begun = try await store.deliveryProgress(child).startedAt == nil ? nil : child
                }
                before = (report, ContentForm.values(json: content))
            }
            return Facts(
                id: id,
                progress: try await store.deliveryProgress(id),
                platforms: platforms,
                locales: ContentForm(values: values, platforms: []).localeNames,
                applications: applications,
                recalled: try await store.delivery(recalledBy: id),
                isAllowed: try await store.actions(onDelivery: id, by: call.actor).contains(.recall),
                child: try await store.runningRecall(ofDelivery: id),
                begun: begun,
                approvalAbove: try await store.approvalRules().filter { own.contains($0.service) }.map(\.above).min(),
                before: before
            )
        }
    }

    /// - Parameter obstacle: why there is no form; "" if there is one.
    private func form(_ facts: Facts, obstacle: String = "") -> FormPage {
        let progress = facts.progress
        // Somebody may have seen those of unknown outcome, too.
        let sent = progress.sent + progress.unknown
        let intro = [
            facts.begun.map { catalogue.text(.recallBefore, "\($0)") } ?? "",
            catalogue.text(.recallSent, count: sent, Figures.count(sent)),
            catalogue.text(.recallText, count: progress.pending, Figures.count(progress.pending)),
            facts.platforms.isEmpty ? catalogue[.recallNoKey] : "",
            facts.platforms.isEmpty ? "" : approvalNote(facts.approvalAbove),
        ]
        let fields = [
            FormField(
                name: Name.reason,
                label: catalogue[.recallReason],
                kind: .text,
                isRequired: true,
                value: facts.before?.report.reason ?? "",
                maxLength: Self.longestReason
            ),
            FormField(
                name: Name.mode,
                label: catalogue[.recallMode],
                kind: .choice(modes(facts)),
                value: (facts.before?.report.mode ?? .stop).rawValue
            ),
        ]
        return FormPage(
            title: catalogue[.recallTitle],
            action: "/deliveries/\(facts.id)/\(DeliveryAction.recall.rawValue)",
            back: ("/deliveries/\(facts.id)", DeliveryWords(row: progress, catalogue: catalogue).name),
            intro: obstacle.isEmpty ? intro.filter { !$0.isEmpty }.joined(separator: " ") : "",
            related: obstacle.isEmpty ? nil : related(facts),
            fields: fields + (facts.platforms.isEmpty ? [] : replacement(facts)),
            button: catalogue[.recallButton],
            obstacle: obstacle
        )
    }

    /// Where what bars the recall is: the recalled delivery, or the end of the second one.
    private func related(_ facts: Facts) -> (path: String, name: String)? {
        if let recalled = facts.recalled {
            return ("/deliveries/\(recalled)", catalogue.text(.unnamedDelivery, "\(recalled)"))
        }
        guard facts.isAllowed, let child = facts.child else { return nil }
        return ("/deliveries/\(child)/stop", catalogue.text(.recallStopSecond, "\(child)"))
    }

    /// Why it cannot be recalled; "" if it can.
    private func obstacle(_ facts: Facts) -> String {
        if let recalled = facts.recalled { return catalogue.text(.recallSecond, "\(recalled)") }
        guard facts.isAllowed else { return catalogue[.recallNotYours] }
        if let child = facts.child { return catalogue.text(.recallAlready, "\(child)") }
        guard !Self.isRecallable(facts.progress) else { return "" }
        return catalogue[facts.progress.startedAt == nil ? .recallEarly : .recallNothing]
    }

    /// That a replacement may need an approval; "" if no service asks for one.
    private func approvalNote(_ above: Int64?) -> String {
        above.map { catalogue.text(.recallNeedsApproval, Figures.count($0)) } ?? ""
    }

    /// What can be done about messages that were sent.
    private func modes(_ facts: Facts) -> [FormOption] {
        // Nothing is left to stop where messages were replaced or removed already.
        var modes = facts.begun == nil ? [FormOption(RecallMode.stop.rawValue, catalogue[.recallStop])] : []
        if !facts.platforms.isEmpty {
            let names = facts.platforms.map { catalogue[$0 == .ios ? .platformIOS : .platformAndroid] }
            let words = catalogue.text(.recallReplace, names.joined(separator: ", "))
            modes.append(FormOption(RecallMode.replace.rawValue, words))
        }
        modes.append(FormOption(RecallMode.remove.rawValue, catalogue[.recallRemove]))
        return modes
    }

    /// The fields of the message that replaces the others: for everybody else, and for each locale of the content.
    private func replacement(_ facts: Facts) -> [FormField] {
        ([""] + facts.locales).flatMap { locale -> [FormField] in
            let readers = locale.isEmpty ? "" : " (\(locale))"
            return [
                FormField(
                    name: Self.name(Name.title, locale),
                    label: catalogue[.recallNewTitle] + readers,
                    kind: .text,
                    hint: catalogue[locale.isEmpty ? .recallOnlyReplace : .recallLocaleEmpty],
                    value: Self.text(Name.title, locale, of: facts),
                    maxLength: .max,
                    counter: facts.payloadLimit.map(TextCounter.init)
                ),
                FormField(
                    name: Self.name(Name.body, locale),
                    label: catalogue[.recallNewBody] + readers,
                    kind: .text,
                    value: Self.text(Name.body, locale, of: facts),
                    maxLength: .max,
                    counter: facts.payloadLimit.map(TextCounter.init)
                ),
            ]
        }
    }

    /// What the replacement before said in a field, on every platform the same.
    private static func text(_ field: String, _ locale: String, of facts: Facts) -> String {
        let path = locale.isEmpty ? "" : "\(ContentForm.locales).\(locale)."
        let texts = Platform.allCases.compactMap { facts.before?.texts["\(path)\($0.rawValue).\(field)"] }
        return texts.first ?? ""
    }

    /// The name of a field; the locale is "" for everybody else.
    private static func name(_ field: String, _ locale: String) -> String {
        locale.isEmpty ? field : "\(field).\(locale)"
    }

    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        let facts = try await facts(call)
        return form(facts, obstacle: obstacle(facts)).reply()
    }

    private func recall(_ call: ConsoleCall) async throws -> ConsoleReply {
        let facts = try await facts(call)
        guard facts.isAllowed || facts.recalled != nil else { throw ConsoleProblem.refusedRole }
        let obstacle = obstacle(facts)
        // An address that somebody kept, or a form of before.
        guard obstacle.isEmpty else { throw ConsoleProblem.conflict(obstacle) }
        return try await form(facts).reply(to: call) {
            let mode = RecallMode(rawValue: call.typed(Name.mode)) ?? .stop
            let texts = ([""] + facts.locales).map { locale in
                (
                    locale: locale, title: call.typed(Self.name(Name.title, locale)),
                    body: call.typed(Self.name(Name.body, locale))
                )
            }
            let isTyped = texts.map { !$0.title.isEmpty || !$0.body.isEmpty }
            // The first ones are for everybody else.
            guard mode != .replace || isTyped.first == true else {
                let missing: Phrase = isTyped.contains(true) ? .recallMainMissing : .recallTextMissing
                throw FormRefusal([Name.title: catalogue[missing]])
            }
            // What the replacement before said is not lost with this one.
            let isNew = texts.contains { locale, title, body in
                [(Name.title, title), (Name.body, body)].contains { field, typed in
                    !typed.isEmpty && typed != Self.text(field, locale, of: facts).trimmed
                }
            }
            guard mode == .replace || !isNew else {
                throw FormRefusal([Name.mode: catalogue[.recallTextUnused]])
            }
            let content = mode == .replace ? Self.content(texts) : nil
            if let content { try await check(content, facts) }
            let reason = call.typed(Name.reason)
            _ = try await responder.database.run {
                try await $0.recallDelivery(facts.id, reason: reason, mode: mode, content: content, by: call.actor)
            }
            return .redirect("/deliveries/\(facts.id)?done=\(DeliveryAction.recall.rawValue)")
        }
    }

    /// Refuses a replacement that could not be sent, before anything is recalled, at the text that is the cause.
    private func check(_ content: String, _ facts: Facts) async throws {
        let whole = try await responder.database.run { try await $0.replacingContent(content, ofDelivery: facts.id) }
        var problems: [String: String] = [:]
        for (row, connector) in facts.applications {
            do throws(ContentError) {
                _ = try row.template(of: whole, over: connector)
            } catch {
                for problem in error.problems {
                    let path = problem.key.split(separator: ".").map(String.init)
                    let locale = path.first == ContentForm.locales && path.count > 1 ? path[1] : ""
                    let field = Self.name(Name.body, facts.locales.contains(locale) ? locale : "")
                    problems[field] = problems[field] ?? ContentFormView.words(problem).capitalisedFirst
                }
            }
        }
        guard problems.isEmpty else { throw FormRefusal(problems) }
    }

    /// A content with only titles and texts, for every platform. A locale without any gets the main ones.
    private static func content(_ texts: [(locale: String, title: String, body: String)]) -> String {
        var main = ""
        var variants: [String] = []
        for (locale, title, body) in texts {
            guard let shown = JSONObjectText.write(["title": title, "body": body].filter { !$0.value.isEmpty }) else {
                continue
            }
            let sections = Platform.allCases.map { "\(JSONObjectText.quoted($0.rawValue)): \(shown)" }
                .joined(separator: ", ")
            if locale.isEmpty {
                main = sections
            } else {
                variants.append("\(JSONObjectText.quoted(locale)): {\(sections)}")
            }
        }
        guard !variants.isEmpty else { return "{\(main)}" }
        return "{\(main), \(JSONObjectText.quoted(ContentForm.locales)): {\(variants.joined(separator: ", "))}}"
    }
}
