import PostgresClient
import PushCore

/// A delivery that somebody writes in the console; it need not be right yet.
public struct ConsoleDraft: Sendable, Hashable {
    public let id: Int64
    /// Who began it.
    public let owner: String
    /// The delivery's name.
    public var label: String
    /// Names of the applications that it goes to.
    public var applications: [String]
    /// What was typed, by the names of the fields.
    public var fields: [String: String]
    /// Counts up with each change.
    public let version: Int32
    /// What was made of it for proofs.
    public let deliveryID: Int64?
    /// When it was changed last.
    public let changedAt: DatabaseTime
}

/// What a draft says, as a delivery.
public struct DraftDelivery: Sendable, Hashable {
    /// The draft and the version that was looked at.
    public var draft: Int64
    public var version: Int32
    /// The content, JSON.
    public var content: String
    /// Who of the subscribers is chosen; "" for everybody.
    public var filter: String
    /// Names of the exclusion lists.
    public var excludedLists: [String]
    /// How it is sent: settings as templates have them, a JSON object.
    public var settings: String

    public init(
        draft: Int64,
        version: Int32,
        content: String,
        filter: String,
        excludedLists: [String],
        settings: String
    ) {
        self.settings = settings
        self.draft = draft
        self.version = version
        self.content = content
        self.filter = filter
        self.excludedLists = excludedLists
    }

    /// Draft, version, content, filter, lists and settings, in the order in which functions take them.
    var values: [PostgresValue] {
        [.int64(draft), .int32(version), .text(content), .text(filter), .textArray(excludedLists), .text(settings)]
    }
}

/// A seed address as the composer shows it: without its token.
public struct ComposerSeed: Sendable, Hashable {
    public let name: String
    /// Whose it is.
    public let label: String
    public let application: String
    /// The language of its messages.
    public let locale: String
    /// The values that its messages take for their fields, a JSON object.
    public let variables: String
    /// Why it cannot get anything; "" if it can.
    public let problem: String
}

/// What there is to choose from in the composer.
public struct ComposerChoices: Sendable, Hashable {
    /// A thing by name, with what people call it.
    public struct Named: Sendable, Hashable {
        public let name: String
        /// What it is for.
        public let label: String
    }

    /// Exclusion lists.
    public var lists: [Named] = []
    public var templates: [Named] = []
    public var seeds: [ComposerSeed] = []
}

extension Store {
    /// So many templates, lists and seed addresses are offered, of each.
    private static let mostChoices: Int32 = 200

    /// The drafts that somebody who has signed in may change, those that were changed last first.
    public func consoleDrafts(most: Int, by actor: ConsoleActor) async throws -> [ConsoleDraft] {
        try await drafts(nil, most: most, actor)
    }

    /// A draft, for somebody who has signed in and may change it.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    public func consoleDraft(_ id: Int64, by actor: ConsoleActor) async throws -> ConsoleDraft {
        guard let draft = try await drafts(id, most: 1, actor).first else {
            throw StoreError(.notFound, "There is no draft \(id) of yours.")
        }
        return draft
    }

    private func drafts(_ id: Int64?, most: Int, _ actor: ConsoleActor) async throws -> [ConsoleDraft] {
        let result = try await query(
            """
            SELECT d.id, d.owner, d.label, d.applications, d.fields::text, d.version, d.delivery_id, d.changed_at
            FROM pushmta_engine.console_drafts($1, \(Self.momentAndIdle), $4, $5) d
            """,
            actor.values + [.int64OrNull(id), .int32(Int32(clamping: most))]
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

    /// The texts of a JSON object; other values are none that a form shows.
    private static func texts(_ json: String) -> [String: String] {
        guard case .object(let entries)? = try? JSONValue(parsing: json.utf8) else { return [:] }
        return entries.reduce(into: [:]) { if case .string(let text) = $1.value { $0[$1.name] = text } }
    }

    /// Begins a draft for somebody who has signed in, empty or with what a template says; it is on record in the same transaction.
    public func addConsoleDraft(
        label: String,
        applications: [String] = [],
        fields: [String: String] = [:],
        by actor: ConsoleActor
    ) async throws -> Int64 {
        try await query(
            "SELECT pushmta_engine.console_add_draft($1, \(Self.momentAndIdle), $4, $5, $6, $7::text::jsonb)",
            actor.values + [
                .text(actor.address), .text(label), .textArray(applications),
                .text(JSONObjectText.write(fields) ?? "{}"),
            ]
        ).one { try $0.int64() }
    }

    /// Keeps what somebody who has signed in has written.
    ///
    /// Throws ``StoreError`` of code `conflict` if somebody else has changed the draft since it was read.
    public func saveConsoleDraft(_ draft: ConsoleDraft, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_save_draft($1, \(Self.momentAndIdle), $4, $5, $6, $7, $8, $9::text::jsonb)",
            actor.values + [
                .text(actor.address), .int64(draft.id), .int32(draft.version), .text(draft.label),
                .textArray(draft.applications), .text(JSONObjectText.write(draft.fields) ?? "{}"),
            ]
        )
    }

    public func removeConsoleDraft(_ id: Int64, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_remove_draft($1, \(Self.momentAndIdle), $4, $5)",
            actor.values + [.text(actor.address), .int64(id)]
        )
    }

    /// Sends what a draft says to seed addresses; returns the proof, a delivery of its own.
    public func proveConsoleDraft(_ delivery: DraftDelivery, to seeds: [String], by actor: ConsoleActor) async throws
        -> Int64
    {
        try await query(
            "SELECT pushmta_engine.console_prove_draft($1, \(Self.momentAndIdle), $4, $5, $6, $7, $8, $9, $10::text::jsonb, $11)",
            actor.values + [.text(actor.address)] + delivery.values + [.textArray(seeds)]
        ).one { try $0.int64() }
    }

    /// Makes a delivery of a draft and starts it, now or at a moment; returns the delivery.
    public func startConsoleDraft(_ delivery: DraftDelivery, at start: DatabaseTime?, by actor: ConsoleActor)
        async throws -> Int64
    {
        try await query(
            """
            SELECT pushmta_engine.console_start_draft($1, \(Self.momentAndIdle), $4, $5, $6, $7, $8, $9, $10::text::jsonb, $11::timestamptz)
            """,
            actor.values + [.text(actor.address)] + delivery.values + [Self.moment(start)]
        ).one { try $0.int64() }
    }

    /// What there is to choose from in the composer, without templates whose deliveries have explicit targets.
    ///
    /// - Parameter lists: names of exclusion lists that are among them however many there are, as far as they exist.
    public func composerChoices(lists: [String] = [], by actor: ConsoleActor) async throws -> ComposerChoices {
        let result = try await query(
            """
            SELECT c.kind, c.name, c.label, c.application, c.locale, coalesce(c.variables::text, '{}'), c.problem
            FROM pushmta_engine.console_choices($1, \(Self.momentAndIdle), $4, $5) c
            """,
            actor.values + [.int32(Self.mostChoices), .textArray(lists)]
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

    /// The newest subscription of a user in some applications, nil if there is none; it is on record who looked.
    public func findReader(userKey: String, applications: [Int32], by actor: ConsoleActor) async throws -> Int64? {
        try await query(
            "SELECT pushmta_engine.console_find_reader($1, \(Self.momentAndIdle), $4, $5, $6)",
            actor.values + [.text(actor.address), .int32Array(applications), .text(userKey)]
        ).one { try $0.int64OrNil() }
    }

    /// The service of each application, by their names.
    public func servicesOfApplications() async throws -> [String: String] {
        let result = try await query("SELECT a.name, a.service FROM pushmta.application a")
        return Dictionary(
            try all(result) { row in (try row.text(), try row.text()) },
            uniquingKeysWith: { $1 }
        )
    }
}
