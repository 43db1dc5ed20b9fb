import Content
import HTTPTypes
import PushCore
import Store

/// The first two steps: the name and the applications, and the target among their subscribers.
extension Composer {
    /// The time limit for counting the audience on a page, which reads other things too. The step that is running at
    /// the limit may exceed it.
    static let countingLimit = Duration.milliseconds(500)
    /// The same for the page that confirms the start: it has only one number, and a browser waits for about ten
    /// seconds.
    static let startCountingLimit = Duration.seconds(4)

    var applicationRoutes: [ConsoleRoute] {
        [
            route(.get, "applications") { call, composed in
                let icons = try await ApplicationIcons.read(responder.database)
                return applicationsPage(composed, icons, isSaved: call.query["saved"] != nil)
            },
            route(.post, "applications") { try await saveApplications($0, $1) },
        ]
    }

    var targetRoutes: [ConsoleRoute] {
        [
            route(.get, "target") { try await targetPage($0, $1) },
            route(.post, "target") { try await saveTarget($0, $1) },
        ]
    }

    /// - Parameter isSaved: whether the form was saved: before that, nothing is missing.
    private func applicationsPage(_ composed: ComposedDraft, _ icons: ApplicationIcons, isSaved: Bool) -> ConsoleReply {
        let groups = Dictionary(grouping: composed.offered.enumerated()) { composed.services[$0.element.name] ?? "" }
        let services = groups.sorted { $0.key < $1.key }.map { service, rows -> PageValues in
            let rows = rows.map { place, row -> PageValues in
                var values: PageValues = [
                    "field": .text(Field.application + row.name), "fieldID": .text("application-\(place)"),
                    "name": .text(row.name),
                    "words": .text(words(row)), "isChosen": .flag(composed.draft.applications.contains(row.name)),
                ]
                icons.add(to: &values, row.name)
                return values.merging(obstacle(row, composed)) { _, new in new }
            }
            return ["service": .text(service), "rows": .list(rows)]
        }
        return page(
            .applications,
            composed,
            [
                "label": .text(composed.draft.label), "services": .list(services),
                "hasServices": .flag(!services.isEmpty),
                "isNoneChosen": .flag(isSaved && composed.chosen.isEmpty && !services.isEmpty),
            ]
        )
    }

    private func words(_ row: ApplicationRow) -> String {
        let platform = row.platform == .ios ? "iOS" : "Android"
        let label = row.label == row.name ? "" : row.label
        let parts = [label, platform, row.environment == .production ? "" : row.environment.rawValue]
        return parts.filter { !$0.isEmpty }.joined(separator: " · ")
    }

    private func saveApplications(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        var composed = composed
        composed.draft.label = (call.form[Field.label] ?? "").trimmed
        let before = composed
        composed.draft.applications = composed.offered.map(\.name).filter {
            call.form[Field.application + $0] != nil && mayChoose($0, before)
        }
        // An audience belongs to a service.
        if composed.service != before.service { composed.draft.fields[ComposedDraft.Name.audience] = nil }
        // All further steps depend on them.
        return try await save(call, composed, .applications, stays: composed.chosen.isEmpty)
    }
}

/// The target.
extension Composer {
    /// The buttons for saved audiences, in addition to those of every step.
    private enum AudienceButton {
        static let use = "use"
        static let keep = "keep"
    }

    /// - Parameter refused: why the filter was not saved as an audience; nil if nobody tried.
    private func targetPage(_ call: ConsoleCall, _ composed: ComposedDraft, refused: String? = nil) async throws
        -> ConsoleReply
    {
        let (known, gone) = try await lists(call, composed)
        let chosen = Set(composed.excludedLists)
        let all = known.map { ($0.name, $0.label, false) } + gone.map { ($0, catalogue[.listGone], true) }
        let lists = all.enumerated().map { place, list -> PageValues in
            let (name, words, isGone) = list
            return [
                "field": .text(Field.list + name), "fieldID": .text("list-\(place)"), "name": .text(name),
                "words": .text(words), "isChosen": .flag(chosen.contains(name)), "isGone": .flag(isGone),
            ]
        }
        let audience = try await audience(composed)
        let builder = try await builder(composed)
        // The problem of a row is shown at the row.
        let problem = builder?.isWrong == true ? "" : audience.problem
        var values: PageValues = [
            "filter": .text(composed.draft.fields[ComposedDraft.Name.filter] ?? ""), "lists": .list(lists),
            "hasLists": .flag(!lists.isEmpty),
            "count": .text(audience.words), "countNote": .text(audience.note),
            "hasCountNote": .flag(!audience.note.isEmpty),
            "filterProblem": .text(problem), "isFilterWrong": .flag(!problem.isEmpty),
            "isSaved": .flag(call.query["saved"] != nil && audience.problem.isEmpty && builder?.isWrong != true),
        ]
        if let builder { values["builder"] = .group(builder.values) }
        values.merge(try await savedAudiences(composed)) { _, new in new }
        values["audienceName"] = .text(call.form[Field.audienceName] ?? call.query[Field.audienceName] ?? "")
        if let refused { values["audienceProblem"] = .group(["words": .text(refused)]) }
        return page(.target, composed, values, status: refused == nil ? .ok : .conflict)
    }

    /// The saved audiences of the draft's service, to choose from.
    private func savedAudiences(_ composed: ComposedDraft) async throws -> PageValues {
        guard let service = composed.service else { return ["mayKeep": .flag(false)] }
        let origin = composed.draft.fields[ComposedDraft.Name.audience] ?? ""
        let rows = try await responder.database.run { try await $0.audiences(ofService: service) }
        var values: PageValues = [
            "mayKeep": .flag(true), "hasAudiences": .flag(!rows.isEmpty),
            "audiences": .list(
                rows.map { ["value": .text($0.name), "isChosen": .flag($0.name == origin)] }
            ),
        ]
        if !origin.isEmpty { values["origin"] = .text(catalogue.text(.audienceOrigin, origin)) }
        return values
    }

    /// Takes the filter of the saved audience that was chosen.
    private func useAudience(_ call: ConsoleCall, _ composed: inout ComposedDraft) async throws {
        guard let service = composed.service, let name = call.form[Field.audience], !name.isEmpty else { return }
        let rows = try await responder.database.run { try await $0.audiences(ofService: service) }
        guard let row = rows.first(where: { $0.name == name }) else {
            throw ConsoleProblem.conflict(catalogue[.noAudiences])
        }
        composed.draft.fields = composed.draft.fields.filter { !$0.key.hasPrefix(FilterRows.Name.kept) }
        composed.draft.fields[ComposedDraft.Name.filter] = row.filter
        composed.draft.fields[ComposedDraft.Name.audience] = row.name
    }

    /// Saves the filter of the draft as an audience; returns why it was refused, and nil if it was not.
    private func keepAudience(_ call: ConsoleCall, _ composed: inout ComposedDraft) async throws -> String? {
        guard let service = composed.service else { return nil }
        let (name, filter) = (call.typed(Field.audienceName), composed.filterText)
        guard !name.isEmpty else { return catalogue[.nameMissing] }
        guard !filter.isEmpty else { return catalogue[.audienceEmpty] }
        do {
            let isTaken = try await responder.database.run { store -> Bool in
                let rows = try await store.audiences(ofService: service)
                guard !rows.contains(where: { $0.name == name && $0.filter != filter }) else { return true }
                try await store.saveAudience(name, ofService: service, filter: filter, by: call.actor)
                return false
            }
            guard !isTaken else { return catalogue[.audienceExists] }
        } catch let error as StoreError {
            guard let refusal = FormRefusal(error) else { throw error }
            return refusal.words
        }
        composed.draft.fields[ComposedDraft.Name.audience] = name
        return nil
    }

    /// The step again, with the name that was typed for an audience: another button than its own was pressed.
    private func keepingName(_ reply: ConsoleReply, _ call: ConsoleCall) -> ConsoleReply {
        let name = call.typed(Field.audienceName)
        guard !name.isEmpty, case .redirect(let path, _) = reply, path.hasSuffix("?saved=1") else { return reply }
        return .redirect("\(path)&\(Field.audienceName)=\(SignIn.encoded(name))")
    }

    /// The exclusion lists to choose from, including those of the draft, and the draft's lists that no longer exist.
    private func lists(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> (
        known: [ComposerChoices.Named], gone: [String]
    ) {
        let wanted = composed.excludedLists
        let known = try await responder.database.run { store in
            try await store.composerChoices(lists: wanted, by: call.actor).lists
        }
        let names = Set(known.map(\.name))
        return (known, wanted.filter { !names.contains($0) })
    }

    /// The exclusion lists of a draft that no longer exist.
    func goneLists(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> [String] {
        composed.excludedLists.isEmpty ? [] : try await lists(call, composed).gone
    }

    /// The rows of a filter's form; nil for a filter that rows cannot express.
    private func builder(_ composed: ComposedDraft) async throws -> FilterBuilder? {
        let names = composed.chosen.map(\.name)
        return try await responder.database.run { store -> FilterBuilder? in
            guard let (rows, problems) = try await FilterBuilder.read(composed, store) else { return nil }
            var columns: [String] = []
            for name in names {
                columns += try await store.declarations(application: name).parameters.map { "\($0.column)" }
            }
            return FilterBuilder(
                rows: rows,
                problems: problems,
                text: composed.filterText,
                declared: columns,
                catalogue: catalogue
            )
        }
    }

    private func saveTarget(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        var composed = composed
        // Each list of the draft has a check box, even one that no longer exists: only a person may remove it, because
        // the people on it would then get the delivery.
        let prefix = Field.list
        let lists = call.form.values.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            .sorted()
        composed.draft.fields[ComposedDraft.Name.lists] = lists.isEmpty ? nil : lists.joined(separator: "\n")
        let before = composed.filterText
        let (filter, rows) = FilterBuilder.save(call.form, in: &composed.draft.fields)
        if filter != before { composed.draft.fields[ComposedDraft.Name.audience] = nil }
        let parsed = try await responder.database.run { try await $0.parseFilter(filter) }
        if let rows { composed.draft.fields.merge(rows.kept(parsed)) { _, new in new } }
        // A filter with an error is saved, but the draft stays at this step.
        let isWrong = if case .failure = parsed { !filter.isEmpty } else { false }
        switch call.form[Field.go] ?? "" {
        case AudienceButton.use:
            try await useAudience(call, &composed)
            return keepingName(try await save(call, composed, .target, stays: true), call)
        // Not for a draft that was changed in another window, which save refuses. What is wrong with the filter is
        // shown at the filter.
        case AudienceButton.keep where !isWrong && call.form[Field.version] == "\(composed.draft.version)":
            let refused = try await keepAudience(call, &composed)
            let reply = try await save(call, composed, .target, stays: true)
            guard let refused else { return reply }
            let id = composed.draft.id
            let saved = try await responder.database.run { try await ComposedDraft.read($0, id, call.actor) }
            return try await targetPage(call, saved, refused: refused)
        default: return keepingName(try await save(call, composed, .target, stays: isWrong), call)
        }
    }

    /// The size of a draft's audience.
    struct Audience: Sendable {
        let words: String
        var note = ""
        var problem = ""
        /// Nil if it cannot be counted.
        var count: AudienceCount?
        /// Whether preparation may leave out some of these people.
        var isAtMost = false
    }

    /// The size of a draft's audience, in words.
    func audience(_ composed: ComposedDraft, within limit: Duration = Self.countingLimit) async throws -> Audience {
        guard !composed.chosen.isEmpty else { return Audience(words: catalogue[.countNobody]) }
        let ids = composed.chosen.map(\.id)
        let isCode = SettingsForm.isOneTimeCode(composed.draft.fields)
        let category = settings(composed).category
        let found: (count: AudienceCount, mayLeaveOut: Bool)
        do {
            found = try await responder.database.run { store in
                let filter = try await composed.filter(store)
                return (
                    count: try await store.countAudience(
                        filter,
                        applications: ids,
                        isOneTimeCode: isCode,
                        within: limit
                    ),
                    mayLeaveOut: try await store.mayLeaveOut(
                        applications: ids,
                        category: category,
                        isOneTimeCode: isCode
                    )
                )
            }
        } catch let error as TargetFilterError {
            let words = "\(error.cause); \(error.remedy)"
            let place = error.position.map { catalogue.text(.filterPlace, "\($0)", words) }
            return Audience(words: "–", problem: place ?? words.capitalisedFirst)
        } catch let error as StoreError where error.code == .invalid {
            return Audience(words: "–", problem: error.message)
        }
        let count = found.count
        if count.needsMapping { return Audience(words: catalogue[.countMapping]) }
        var notes = [catalogue[count.error == nil ? .countExact : .countEstimated]]
        if count.excluded > 0 || !composed.excludedLists.isEmpty {
            let phrase: Phrase = composed.excludedLists.isEmpty ? .countExcluded : .countExcludedLists
            let text = Figures.count(count.excluded)
            let shown = count.error == nil ? text : catalogue.text(.about, text)
            notes.append(catalogue.text(phrase, count: count.excluded, shown).capitalisedFirst)
        }
        let isOnePerUser = SettingsForm.isOnePerUser(composed.draft.fields)
        if isOnePerUser { notes.append(catalogue[.countDevices]) }
        let holdOut = (try? experiment(composed).rule())?.holdOutPercent ?? 0
        let mayLeaveOut = found.mayLeaveOut || holdOut > 0
        if mayLeaveOut { notes.append(catalogue[.countLeftOut]) }
        let text = Figures.count(count.count)
        var words = count.error.map { catalogue.text(.aboutWithin, text, Figures.count($0)) } ?? text
        // Only preparation looks up who is left out, and which of a person's devices gets the message.
        let isAtMost = isOnePerUser || mayLeaveOut || !composed.excludedLists.isEmpty
        if isAtMost { words = catalogue.text(.atMost, words) }
        return Audience(words: words, note: notes.joined(separator: " "), count: count, isAtMost: isAtMost)
    }
}

extension String {
    /// The text with a capital first letter.
    var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
