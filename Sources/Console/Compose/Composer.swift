import Content
import HTTPTypes
import PushCore
import Store

/// *Compose*: a delivery is written in steps and saved as a draft until it is started.
struct Composer: Sendable {
    /// The steps, in order.
    enum Step: String, Sendable, CaseIterable {
        case applications, target, content, preview, when, experiment, limits, approval, send

        var name: Phrase {
            switch self {
            case .applications: .stepApplications
            case .target: .stepTarget
            case .content: .stepContent
            case .preview: .stepPreview
            case .when: .stepWhen
            case .experiment: .stepExperiment
            case .limits: .stepLimits
            case .approval: .stepApproval
            case .send: .stepSend
            }
        }

        /// Whether a draft can be started without it.
        var isOptional: Bool {
            switch self {
            case .preview, .when, .experiment, .limits, .approval: true
            case .applications, .target, .content, .send: false
            }
        }

        var next: Step { Self.allCases[min((Self.allCases.firstIndex(of: self) ?? 0) + 1, Self.allCases.count - 1)] }
    }

    /// The names of form fields that are not a draft's values.
    enum Field {
        /// The draft's version that the form shows.
        static let version = "version"
        /// The button that was pressed.
        static let go = "go"
        static let label = "label"
        static let template = "template"
        /// The name under which to save the draft as a template.
        static let keep = "keep"
        /// The prefixes of the names of check boxes.
        static let application = "application."
        static let list = "list."
        static let seed = "seed."
        /// A saved audience to take the filter of.
        static let audience = "audience"
        /// The name under which to save the filter as an audience.
        static let audienceName = "audience_name"
    }

    let responder: ConsoleResponder

    static let path = "/compose"
    /// The word in the address of a delivery's page after a form of its former draft was sent.
    static let unsaved = "unsaved"
    /// The forms that make a draft a delivery.
    private static let ends: Set<String> = ["start", "analyse"]
    /// The maximum size of a form. A payload has 4,096 bytes; in several locales and encoded as a form, that is about
    /// ten times as much.
    static let maxBytes = 300 << 10
    /// The maximum number of fields: those of a content in several locales, or the exclusion lists and the rows of a
    /// filter.
    private static let maxFields = 1_000
    /// The maximum number of drafts in the list.
    static let maxDrafts = 100

    var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.marketing)) { try await list($0) },
            ConsoleRoute(.post, Self.path, .role(.marketing)) { try await add($0) },
            ConsoleRoute(.get, Self.path + "/{id}/remove", .role(.marketing)) { try await confirmRemoval($0) },
            ConsoleRoute(.post, Self.path + "/{id}/remove", .role(.marketing)) { try await remove($0) },
        ] + applicationRoutes + targetRoutes + contentRoutes + previewRoutes + whenRoutes + experimentRoutes
            + limitRoutes + approvalRoutes + sendRoutes
    }

    /// A route for a step of a draft.
    func route(
        _ method: HTTPRequest.Method,
        _ name: String,
        _ handle: @escaping @Sendable (ConsoleCall, ComposedDraft) async throws -> ConsoleReply
    ) -> ConsoleRoute {
        ConsoleRoute(
            method,
            "\(Self.path)/{id}/\(name)",
            .role(.marketing),
            maxBytes: Self.maxBytes,
            maxFields: Self.maxFields
        ) { call in
            let id = try call.number("id")
            do {
                let composed = try await responder.database.run { try await ComposedDraft.read($0, id, call.actor) }
                let clock = try await clock(ofZone: composed.zone)
                return try await Figures.$zone.withValue(clock) { try await handle(call, composed) }
            } catch is DraftChanged {
                return changed(id, Step(rawValue: name) ?? .send)
            } catch let error as StoreError where error.sqlState == Self.changedState {
                return changed(id, Step(rawValue: name) ?? .send)
            } catch let error as StoreError where error.code == .notFound {
                // Somebody went back in the browser, or kept the address.
                let delivery = try await responder.database.run { try await $0.delivery(ofDraft: id, by: call.actor) }
                guard let delivery else { throw error }
                // A form that was sent in vain is answered so, but a second click on the start is not.
                let isInVain = method == .post && !Self.ends.contains(name)
                return .redirect("/deliveries/\(delivery)" + (isInVain ? "?done=\(Self.unsaved)" : ""))
            }
        }
    }

    /// The address of a button's own path leads to its step.
    func page(of name: String, _ step: Step) -> ConsoleRoute {
        route(.get, name) { _, composed in .redirect(path(composed.draft, step)) }
    }

    /// The error of a form that shows an older version of its draft.
    struct DraftChanged: Error {}

    /// With this the database refuses such a form.
    private static let changedState = "PM111"

    /// The page that says so, and leads back to the step.
    private func changed(_ id: Int64, _ step: Step) -> ConsoleReply {
        .page(
            ConsolePage(
                "problem",
                title: catalogue[.conflictTitle],
                [
                    "text": .text("\(catalogue[.draftChanged]) \(catalogue[.draftChangedText])"),
                    "link": .group([
                        "linkPath": .text("\(Self.path)/\(id)/\(step.rawValue)"),
                        "linkWords": .text(catalogue[.draftOpen]),
                    ]),
                ],
                status: .conflict
            )
        )
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (drafts, returned, standings, choices, clock) = try await responder.database.run { store in
            let drafts = try await store.consoleDrafts(limit: Self.maxDrafts, by: call.actor)
            return (
                drafts, try await store.returned(drafts, by: call.actor),
                try await RecurrenceStanding.read(store, drafts.compactMap(\.deliveryID)),
                try await store.composerChoices(by: call.actor), try await store.commonClock()
            )
        }
        let rows = drafts.map { draft -> PageValues in
            let reason = draft.deliveryID.flatMap { returned[$0] }
            let values: PageValues = [
                "path": .text(path(draft, .applications)), "id": .text("\(draft.id)"), "label": .text(name(draft)),
                "applications": .text(draft.applications.joined(separator: ", ")), "owner": .text(draft.owner),
                "changed": .text(Figures.$zone.withValue(clock) { Figures.minute(draft.changedAt) }),
            ]
            let standing = draft.deliveryID.flatMap { standings[$0] }
            return values.merging(self.returned(draft, reason, standing)) { own, _ in own }
        }
        let templates = choices.templates.map { template -> PageValues in
            let words = template.label.isEmpty ? template.name : "\(template.name): \(template.label)"
            return [
                "value": .text(template.name), "name": .text(words),
                "isChosen": .flag(template.name == call.query[Field.template]),
            ]
        }
        return .page(
            ConsolePage(
                "compose",
                title: catalogue[.composeTitle],
                [
                    "drafts": .list(rows), "hasDrafts": .flag(!rows.isEmpty), "templates": .list(templates),
                    "isRemoved": .flag(call.query["done"] == "remove"),
                ]
            )
        )
    }

    /// That the delivery of a draft came back, and why, or that it recurs; nothing if neither is so.
    private func returned(
        _ draft: ConsoleDraft,
        _ why: (reason: String, earlier: String)?,
        _ standing: RecurrenceStanding?
    ) -> PageValues {
        guard let id = draft.deliveryID, why != nil || standing != nil else { return [:] }
        func line(_ text: String) -> String {
            Figures.inZone(text.split(whereSeparator: \.isNewline).joined(separator: "; "))
        }
        let (why, earlier) = (line(why?.reason ?? ""), line(why?.earlier ?? ""))
        let number = "\(id)"
        var all: [String] = []
        if !why.isEmpty { all.append(catalogue.text(.draftReturned, number, why)) }
        if let standing {
            all += [catalogue.text(.draftRecurs, number), standing.words(catalogue)]
        } else if why.isEmpty {
            all.append(catalogue.text(.draftTakenBack, number))
            if !earlier.isEmpty { all.append("\(catalogue[.earlierReturn]) \(earlier)") }
        }
        let words = all.joined(separator: " ")
        return ["returned": .group(["returnedWords": .text(words), "returnedPath": .text("/deliveries/\(id)")])]
    }

    private func add(_ call: ConsoleCall) async throws -> ConsoleReply {
        let label = (call.form[Field.label] ?? "").trimmed
        let template = call.form[Field.template] ?? ""
        let id = try await responder.database.run { store in
            guard !template.isEmpty else {
                return try await store.addConsoleDraft(label: label, by: call.actor)
            }
            let source = try await store.template(named: template)
            guard !ComposedDraft.isForSystems(source) else {
                throw ConsoleProblem.conflict(catalogue[.templateForSystems])
            }
            // An application may have been removed since. The draft must not name it, because it could never be removed
            // from the draft.
            let there = Set(try await store.applications().map(\.name))
            return try await store.addConsoleDraft(
                label: label,
                applications: source.target.applications.filter(there.contains),
                fields: ComposedDraft.fields(content: source.content, settings: source.settings, source.target),
                by: call.actor
            )
        }
        return .redirect("\(Self.path)/\(id)/\(Step.applications.rawValue)")
    }

    private func confirmRemoval(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let (draft, delivery, standing) = try await responder.database.run { store in
            let draft = try await store.consoleDraft(id, by: call.actor)
            return (
                draft, try await store.delivery(stoppedWithDraft: id, by: call.actor),
                try await RecurrenceStanding.read(store, [draft.deliveryID].compactMap(\.self)).values.first
            )
        }
        var text = delivery.map { catalogue.text(.removeDraftStops, "\($0)") } ?? catalogue[.removeDraftText]
        if let standing {
            let goesOn = catalogue.text(.removeDraftRecurs, "\(standing.row.deliveryID)")
            text = "\(text) \(goesOn) \(standing.words(catalogue))"
        }
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.removeDraftTitle],
                [
                    "subject": .text(name(draft)),
                    "text": .text(text),
                    "action": .text("\(Self.path)/\(id)/remove"), "button": .text(catalogue[.removeDraft]),
                    "back": .text(Self.path),
                ]
            )
        )
    }

    private func remove(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        try await responder.database.run { try await $0.removeConsoleDraft(id, by: call.actor) }
        return .redirect(Self.path + "?done=remove")
    }
}

extension Composer {
    func path(_ draft: ConsoleDraft, _ step: Step) -> String { "\(Self.path)/\(draft.id)/\(step.rawValue)" }

    func name(_ draft: ConsoleDraft) -> String {
        draft.label.isEmpty ? catalogue.text(.unnamedDraft, "\(draft.id)") : draft.label
    }

    /// The page of a step, with the values that all steps share.
    ///
    /// - Parameters:
    ///   - problem: what was refused, to be shown above all.
    ///   - status: that of a page whose fields say what was refused.
    func page(
        _ step: Step,
        _ composed: ComposedDraft,
        _ values: PageValues,
        problem: String? = nil,
        status: HTTPResponse.Status = .ok
    ) -> ConsoleReply {
        let here = Step.allCases.firstIndex(of: step) ?? 0
        let steps = Step.allCases.enumerated().map { place, other -> PageValues in
            [
                "place": .text("\(place + 1)"), "name": .text(catalogue[other.name]),
                "path": .text(path(composed.draft, other)),
                "isHere": .flag(place == here), "isBefore": .flag(place < here),
            ]
        }
        var all: PageValues = [
            "draftID": .text("\(composed.draft.id)"), "draftVersion": .text("\(composed.draft.version)"),
            "steps": .list(steps),
            "action": .text(path(composed.draft, step)), "stepTitle": .text(catalogue[step.name]),
        ]
        if step.isOptional { all["skip"] = .group(["path": .text(path(composed.draft, step.next))]) }
        if let id = composed.copiedFrom { all["copied"] = .group(["copiedID": .text("\(id)")]) }
        all.merge(returned(composed.draft, composed.returned, composed.recurrence)) { own, _ in own }
        if let problem { all["refused"] = .group(["words": .text(problem)]) }
        return .page(
            ConsolePage(
                "compose-" + step.rawValue,
                title: name(composed.draft),
                all.merging(values) { _, new in new },
                status: problem == nil ? status : .conflict
            )
        )
    }

    /// Saves a changed draft, if its version is still the one that the form showed, and goes to the next step.
    func save(_ call: ConsoleCall, _ composed: ComposedDraft, _ step: Step, stays: Bool = false) async throws
        -> ConsoleReply
    {
        guard call.form[Field.version] == "\(composed.draft.version)" else {
            throw DraftChanged()
        }
        let draft = composed.draft
        try await responder.database.run { try await $0.saveConsoleDraft(draft, by: call.actor) }
        let stays = stays || call.form[Field.go] != "next"
        return .redirect(path(draft, stays ? step : step.next) + (stays ? "?saved=1" : ""))
    }
}
