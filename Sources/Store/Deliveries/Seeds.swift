import PostgresClient
import PushCore

/// A seed address with its token, which is for the operator who asked, not for logs.
package struct SeedWithToken: Sendable, Hashable {
    package let seed: SeedRow
    /// The token at the gateway.
    package let pushToken: String
}

/// The addressees of a proof: none if all three are empty.
package struct ProofAddresses: Sendable, Hashable {
    package var seeds: [String]
    package var subscriptionIDs: [Int64]
    package var pushTokens: [String]

    package init(seeds: [String] = [], subscriptionIDs: [Int64] = [], pushTokens: [String] = []) {
        self.seeds = seeds
        self.subscriptionIDs = subscriptionIDs
        self.pushTokens = pushTokens
    }
}

extension Store {
    /// The `subscription.exclusion` of a subscription created for a seed address: it belongs to no user, so it is in no
    /// audience and is not counted as left out.
    static let seedExclusion: Int16 = 9

    /// Whether a subscription `s` exists only for a seed address: it is in no audience, and gets only what names seed
    /// addresses. False if a subscriber had its token and is no longer sent anything; that is checked last, because it
    /// costs look-ups.
    static let isSeedOnlySQL = """
        (CASE WHEN s.exclusion = \(seedExclusion) AND s.disabled_reason = 'seed'
            THEN pushmta_engine.token_bar(s.application_id, s.push_token) IS NULL ELSE false END)
        """

    /// Sets, before a delivery's start, which seed addresses get it in addition to its target: those with these names,
    /// or all of its applications for nil.
    package func setSeeds(ofDelivery id: Int64, _ names: [String]?) async throws {
        try await change("pushmta.set_seeds($1, $2::text[])", [.int64(id), names.map { .textArray($0) } ?? .null])
    }

    /// All seed addresses by name.
    package func seeds() async throws -> [SeedWithToken] {
        let result = try await query(
            """
            SELECT s.name, s.label, s.application, s.platform, s.subscription_id, s.locale, s.variables::text, s.is_seed_only,
                s.problem, t.push_token
            FROM pushmta.seed s JOIN pushmta.subscription_token t ON t.id = s.subscription_id ORDER BY s.name
            """
        )
        return try all(result) { row in SeedWithToken(seed: try Self.seedRow(&row), pushToken: try row.text()) }
    }

    /// Adds a seed address; returns the id of its subscription.
    @discardableResult
    package func addSeed(_ seed: NewSeed) async throws -> Int64 {
        try NameCheck.name(seed.name, of: "seed address")
        try NameCheck.label(seed.label, of: "seed address")
        let address = seed.address
        let result = try await change(
            """
            pushmta.add_seed(name => $1, application => $2, subscription_id => $3::bigint, user_key => $4, push_token => $5,
                variables => $6::text::jsonb, label => $7, locale => $8)
            """,
            [
                .text(seed.name), .textOrNull(seed.application), .int64OrNull(address.subscriptionID),
                .textOrNull(address.userKey), .textOrNull(address.pushToken),
                .textOrNull(seed.variables), .text(seed.label), .text(LocaleTag.canonical(seed.locale)),
            ]
        )
        return try result.one { try $0.int64() }
    }

    /// Removes a seed address; a subscription that was created for it gets nothing any more.
    package func removeSeed(named name: String) async throws {
        try await change("pushmta.remove_seed($1)", [.text(name)])
    }

    /// Tells names of seed addresses, ids of subscriptions and push tokens apart.
    ///
    /// A name has precedence. Any other number is a subscription, and the rest are tokens. Throws `notFound` for a word
    /// too short for a token, which is a mistyped name.
    package func proofAddresses(_ words: [String]) async throws -> ProofAddresses {
        let found = try await query("SELECT d.name FROM pushmta.seed d WHERE d.name = ANY($1)", [.textArray(words)])
        let names = Set(try all(found) { row in try row.text() })
        var addresses = ProofAddresses()
        for word in words {
            if names.contains(word) {
                addresses.seeds.append(word)
            } else if let id = Int64(word) {
                addresses.subscriptionIDs.append(id)
            } else if word.utf8.count < Self.minTokenLength {
                throw StoreError(
                    .notFound,
                    "There is no seed address \"\(word)\", and it is neither a number nor long enough for a push token.",
                    hint: "pushmta seed list shows the seed addresses"
                )
            } else {
                addresses.pushTokens.append(word)
            }
        }
        return addresses
    }

    /// FCM tokens are at least this long; APNs tokens have 64 characters.
    private static let minTokenLength = 20

    /// Sends a delivery's message to some addresses, or to all seed addresses of its applications for nil.
    ///
    /// - Parameters:
    ///   - variant: a variant of its experiment; nil for its own content.
    ///   - start: whether it is sent at once; otherwise the proof waits for its start like any delivery.
    /// - Returns: The id of the proof, which is a delivery of its own.
    package func createProof(
        of delivery: Int64,
        variant: Int32? = nil,
        to addresses: ProofAddresses?,
        start: Bool = true
    ) async throws -> Int64 {
        let result = try await query(
            """
            SELECT pushmta.proof_delivery(delivery => $1, seeds => $2::text[], subscription_ids => $3::bigint[],
                push_tokens => $4::text[], start => $5, variant => $6::integer)
            """,
            [
                .int64(delivery), addresses.map { .textArray($0.seeds) } ?? .null,
                addresses.map { .int64Array($0.subscriptionIDs) } ?? .null,
                addresses.map { .textArray($0.pushTokens) } ?? .null, .bool(start),
                variant.map { .int32($0) } ?? .null,
            ]
        )
        return try result.one { try $0.int64() }
    }
}

extension Store {
    /// Seed addresses after a name, for a signed-in user who may compose deliveries.
    package func seedList(behind name: String, limit: Int, by actor: ConsoleActor) async throws -> [SeedRow] {
        let result = try await query(
            """
            SELECT s.name, s.label, s.application, s.platform, s.subscription, s.locale, s.variables::text, s.is_seed_only, s.problem
            FROM pushmta_engine.console_seed_list(\(ConsoleActor.caller), $5, $6) s
            """,
            actor.values + [.text(name), .int32(Int32(clamping: limit))]
        )
        return try all(result, Self.seedRow)
    }

    static func seedRow(_ row: inout RowReader) throws -> SeedRow {
        SeedRow(
            name: try row.text(),
            label: try row.text(),
            application: try row.text(),
            platform: try row.choice(),
            subscriptionID: try row.int64(),
            locale: try row.text(),
            variables: try row.text(),
            isSeedOnly: try row.bool(),
            problem: try row.text()
        )
    }

    /// Adds a seed address for a signed-in user, and logs it in the same transaction.
    package func addSeed(_ seed: NewSeed, by actor: ConsoleActor) async throws {
        try NameCheck.name(seed.name, of: "seed address")
        try NameCheck.label(seed.label, of: "seed address")
        let address = seed.address
        try await query(
            """
            SELECT pushmta_engine.console_add_seed(\(ConsoleActor.caller), $5, $6, $7::bigint, $8, $9, $10::text::jsonb, $11, $12)
            """,
            actor.values + [
                .text(seed.name), .textOrNull(seed.application),
                .int64OrNull(address.subscriptionID), .textOrNull(address.userKey), .textOrNull(address.pushToken),
                .textOrNull(seed.variables), .text(seed.label), .text(LocaleTag.canonical(seed.locale)),
            ]
        )
    }

    /// Removes a seed address for a signed-in user, and logs it in the same transaction.
    package func removeSeed(named name: String, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_remove_seed(\(ConsoleActor.caller), $5)",
            actor.values + [.text(name)]
        )
    }
}
