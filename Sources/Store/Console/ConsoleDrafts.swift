import PostgresClient
import PushCore

/// A seed address as the composer shows it: without its token.
package struct ComposerSeed: Sendable, Hashable {
    package let name: String
    /// Its label, for people.
    package let label: String
    package let application: String
    /// The language of its messages.
    package let locale: String
    /// The values of the fields in its messages, a JSON object.
    package let variables: String
    /// Why it cannot get messages; "" if it can.
    package let problem: String
}

/// The choices in the composer.
package struct ComposerChoices: Sendable, Hashable {
    /// An object by name, with its label.
    package struct Named: Sendable, Hashable {
        package let name: String
        /// Its label, for people.
        package let label: String
    }

    /// Exclusion lists.
    package var lists: [Named] = []
    package var templates: [Named] = []
    package var seeds: [ComposerSeed] = []
}

extension Store {
    /// The maximum number of templates, of lists and of seed addresses to offer.
    private static let maxChoices: Int32 = 200

    /// The drafts that a signed-in user may change, last changed first.
    package func consoleDrafts(limit: Int, by actor: ConsoleActor) async throws -> [ConsoleDraft] {
        try await drafts(nil, limit: limit, actor)
    }

    /// A draft, for a signed-in user who may change it.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func consoleDraft(_ id: Int64, by actor: ConsoleActor) async throws -> ConsoleDraft {
        guard let draft = try await drafts(id, limit: 1, actor).first else {
            throw StoreError(.notFound, "There is no draft \(id), or it belongs to another user.")
        }
        return draft
    }

    private func drafts(_ id: Int64?, limit: Int, _ actor: ConsoleActor) async throws -> [ConsoleDraft] {
        let result = try await query(
            """
            SELECT d.id, d.owner, d.label, d.applications, d.fields::text, d.version, d.delivery_id, d.changed_at
            FROM pushmta_engine.console_drafts(\(ConsoleActor.caller), $5, $6) d
            """,
            actor.values + [.int64OrNull(id), .int32(Int32(clamping: limit))]
        )
        return try all(result) { row in
            ConsoleDraft(
                id: try row.int64(),
                owner: try row.text(),
                label: try row.text(),
                applications: try row.textArray(),
                fields: Self.texts(try row.text()),
                version: try row.int32(),
                deliveryID: try row.int64OrNil(),
                changedAt: try row.time()
            )
        }
    }

    /// The text members of a JSON object; a form shows no others.
    private static func texts(_ json: String) -> [String: String] {
        guard case .object(let entries)? = try? JSONValue(parsing: json.utf8) else { return [:] }
        return entries.reduce(into: [:]) { if case .string(let text) = $1.value { $0[$1.name] = text } }
    }

    /// Creates a draft for a signed-in user, empty or from a template, and logs it in the same transaction.
    package func addConsoleDraft(
        label: String,
        applications: [String] = [],
        fields: [String: String] = [:],
        by actor: ConsoleActor
    ) async throws -> Int64 {
        try await query(
            "SELECT pushmta_engine.console_add_draft(\(ConsoleActor.caller), $5, $6, $7::text::jsonb)",
            actor.values + [
                .text(label), .textArray(applications),
                .text(JSONObjectText.write(fields) ?? "{}"),
            ]
        ).one { try $0.int64() }
    }

    /// Saves a draft of a signed-in user.
    ///
    /// Throws ``StoreError`` of code `conflict` if the draft was changed since it was read.
    package func saveConsoleDraft(_ draft: ConsoleDraft, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_save_draft(\(ConsoleActor.caller), $5, $6, $7, $8, $9::text::jsonb)",
            actor.values + [
                .int64(draft.id), .int32(draft.version), .text(draft.label),
                .textArray(draft.applications), .text(JSONObjectText.write(draft.fields) ?? "{}"),
            ]
        )
    }

    /// The delivery that a draft has become; nil if there is none. A delivery that came back has its draft again.
    package func delivery(ofDraft id: Int64, by actor: ConsoleActor) async throws -> Int64? {
        try await query(
            "SELECT pushmta_engine.console_delivery_of_draft(\(ConsoleActor.caller), $5)",
            actor.values + [.int64(id)]
        ).one { try $0.int64OrNil() }
    }

    /// Why each of those deliveries of drafts came back that did: the present version ("": somebody has taken it back),
    /// and the last one before it that did ("": none).
    package func returned(_ drafts: [ConsoleDraft], by actor: ConsoleActor) async throws
        -> [Int64: (reason: String, earlier: String)]
    {
        let ids = drafts.compactMap(\.deliveryID)
        guard !ids.isEmpty else { return [:] }
        let result = try await query(
            "SELECT r.delivery_id, r.reason, r.earlier FROM pushmta_engine.console_returned(\(ConsoleActor.caller), $5) r",
            actor.values + [.int64Array(ids)]
        )
        let rows = try all(result) { row in (try row.int64(), (reason: try row.text(), earlier: try row.text())) }
        return Dictionary(rows, uniquingKeysWith: { $1 })
    }

    /// The delivery that ``removeConsoleDraft(_:by:)`` stops: one that came back to its author. Nil if there is none.
    package func delivery(stoppedWithDraft id: Int64, by actor: ConsoleActor) async throws -> Int64? {
        try await query(
            "SELECT pushmta_engine.console_stopped_with(\(ConsoleActor.caller), $5)",
            actor.values + [.int64(id)]
        ).one { try $0.int64OrNil() }
    }

    /// Removes a draft of a signed-in user, and stops its delivery if that came back to its author.
    package func removeConsoleDraft(_ id: Int64, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_remove_draft(\(ConsoleActor.caller), $5)",
            actor.values + [.int64(id)]
        )
    }

    /// Sends a draft's content to seed addresses; returns the proof, which is a delivery of its own.
    package func proveConsoleDraft(_ delivery: DraftDelivery, to seeds: [String], by actor: ConsoleActor) async throws
        -> Int64
    {
        try await query(
            "SELECT pushmta_engine.console_prove_draft(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10::text::jsonb, $11)",
            actor.values + delivery.values + [.textArray(seeds)]
        ).one { try $0.int64() }
    }

    /// Throws what ``startConsoleDraft(_:at:isAnalysis:isRequest:by:)`` would throw for a draft that cannot become a
    /// delivery, or whose plan would not fit into its validity with this start; nil: now. It changes nothing.
    package func checkConsoleDraft(_ delivery: DraftDelivery, at start: DatabaseTime?, by actor: ConsoleActor)
        async throws
    {
        try await query(
            """
            SELECT pushmta_engine.console_check_draft(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10::text::jsonb, $11::timestamptz)
            """,
            actor.values + delivery.values + [Self.moment(start)]
        )
    }

    /// Creates a delivery from a draft and starts it, now or at a time, has it analysed instead, or requests its approval
    /// for that start; returns the delivery.
    package func startConsoleDraft(
        _ delivery: DraftDelivery,
        at start: DatabaseTime?,
        isAnalysis: Bool = false,
        isRequest: Bool = false,
        by actor: ConsoleActor
    ) async throws -> Int64 {
        try await query(
            """
            SELECT pushmta_engine.console_start_draft(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10::text::jsonb, $11::timestamptz,
                $12, $13)
            """,
            actor.values + delivery.values + [Self.moment(start), .bool(isAnalysis), .bool(isRequest)]
        ).one { try $0.int64() }
    }

    /// What a draft needs to say the same as a delivery: content and settings are JSON objects, as in templates.
    ///
    /// Throws ``StoreError`` of code `invalid` if no draft can say it.
    package func duplicate(ofDelivery id: Int64, by actor: ConsoleActor) async throws
        -> (label: String, content: String, settings: String, target: TemplateTarget)
    {
        let result = try await query(
            """
            SELECT d.label, d.content::text, d.settings::text, d.applications, d.filter, d.lists
            FROM pushmta_engine.console_duplicate(\(ConsoleActor.caller), $5) d
            """,
            actor.values + [.int64(id)]
        )
        return try result.one { row in
            (
                label: try row.text(), content: try row.text(), settings: try row.text(),
                target: TemplateTarget(
                    applications: try row.textArray(),
                    filter: try row.text(),
                    excludedLists: try row.textArray()
                )
            )
        }
    }

    /// The choices in the composer, without templates whose deliveries have explicit targets.
    ///
    /// - Parameter lists: names of exclusion lists to include in any case, if they exist.
    package func composerChoices(lists: [String] = [], by actor: ConsoleActor) async throws -> ComposerChoices {
        let result = try await query(
            """
            SELECT c.kind, c.name, c.label, c.application, c.locale, coalesce(c.variables::text, '{}'), c.problem
            FROM pushmta_engine.console_choices(\(ConsoleActor.caller), $5, $6) c
            """,
            actor.values + [.int32(Self.maxChoices), .textArray(lists)]
        )
        var choices = ComposerChoices()
        try result.each { row in
            let kind = try row.text()
            let seed = ComposerSeed(
                name: try row.text(),
                label: try row.text(),
                application: try row.text(),
                locale: try row.text(),
                variables: try row.text(),
                problem: try row.text()
            )
            let named = ComposerChoices.Named(name: seed.name, label: seed.label)
            switch kind {
            case "list": choices.lists.append(named)
            case "template": choices.templates.append(named)
            default: choices.seeds.append(seed)
            }
        }
        return choices
    }

    /// The newest subscription of a user in some applications, nil if there is none. Logs the look-up.
    package func findReader(userKey: String, applications: [Int32], by actor: ConsoleActor) async throws -> Int64? {
        try await query(
            "SELECT pushmta_engine.console_find_reader(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.int32Array(applications), .text(userKey)]
        ).one { try $0.int64OrNil() }
    }

    /// The service of each application, by their names.
    package func servicesOfApplications() async throws -> [String: String] {
        let result = try await query("SELECT a.name, a.service FROM pushmta.application a")
        return Dictionary(
            try all(result) { row in (try row.text(), try row.text()) },
            uniquingKeysWith: { $1 }
        )
    }
}
