import PostgresClient
import PushCore

extension Store {
    /// Whether a subscription `s` is there for a seed address alone: proofs go to it, and nothing else. Not if a subscriber had its
    /// token who is sent nothing any more; that is asked last, as it costs look-ups.
    static let isSeedOnlySQL = """
        (CASE WHEN s.exclusion = 1 AND s.disabled_reason = 'seed'
            THEN pushmta_engine.token_bar(s.application_id, s.push_token) IS NULL ELSE false END)
        """

    /// All seed addresses by name.
    public func seeds() async throws -> [SeedRow] {
        let result = try await query(
            """
            SELECT s.name, s.label, s.application, s.platform, s.subscription_id, s.push_token, s.locale, s.variables::text,
                s.is_seed_only, s.problem
            FROM pushmta.seed s ORDER BY s.name
            """
        )
        return try all(result) { rows, row in
            SeedRow(
                name: try rows.text(row, 0),
                label: try rows.text(row, 1),
                application: try rows.text(row, 2),
                platform: try choice(rows, row, 3),
                subscriptionID: try rows.int64(row, 4),
                pushToken: try rows.text(row, 5),
                locale: try rows.text(row, 6),
                variables: try rows.text(row, 7),
                isSeedOnly: try rows.bool(row, 8),
                problem: try rows.text(row, 9)
            )
        }
    }

    /// Adds a seed address; returns the id of its subscription.
    @discardableResult
    public func addSeed(_ seed: NewSeed) async throws -> Int64 {
        try NameCheck.name(seed.name, of: "seed address")
        try NameCheck.label(seed.label, of: "seed address")
        var (id, userKey, token): (Int64?, String?, String?)
        switch seed.address {
        case .subscription(let value): id = value
        case .userKey(let value): userKey = value
        case .pushToken(let value): token = value
        }
        let result = try await query(
            """
            SELECT pushmta.add_seed(name => $1, application => $2, subscription_id => $3::bigint, user_key => $4, push_token => $5,
                variables => $6::text::jsonb, label => $7, locale => $8)
            """,
            [
                .text(seed.name), .textOrNull(seed.application), .int64OrNull(id), .textOrNull(userKey),
                .textOrNull(token),
                .textOrNull(seed.variables), .text(seed.label), .text(seed.locale),
            ]
        )
        return try result.int64(0, 0)
    }

    /// Removes a seed address; a subscription that was made for it gets nothing any more.
    public func removeSeed(named name: String) async throws {
        try await query("SELECT pushmta.remove_seed($1)", [.text(name)])
    }

    /// Tells names of seed addresses, ids of subscriptions and push tokens apart.
    ///
    /// A name goes before everything else; what is no name and a number is a subscription, and the rest are tokens. Throws `notFound`
    /// for what is too short for a token: a mistyped name.
    public func proofAddresses(_ words: [String]) async throws -> ProofAddresses {
        let found = try await query("SELECT d.name FROM pushmta.seed d WHERE d.name = ANY($1)", [.textArray(words)])
        let names = Set(try all(found) { rows, row in try rows.text(row, 0) })
        var addresses = ProofAddresses()
        for word in words {
            if names.contains(word) {
                addresses.seeds.append(word)
            } else if let id = Int64(word) {
                addresses.subscriptionIDs.append(id)
            } else if word.utf8.count < Self.shortestToken {
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

    /// FCM's are not shorter, APNs' have 64 characters.
    private static let shortestToken = 20

    /// Sends what a delivery will say to some addresses, or to all seed addresses of its applications for nil.
    ///
    /// - Parameter start: whether it is sent at once; else the proof waits for its start as every delivery does.
    /// - Returns: The id of the proof, a delivery of its own.
    public func createProof(of delivery: Int64, to addresses: ProofAddresses?, start: Bool = true) async throws -> Int64
    {
        let result = try await query(
            """
            SELECT pushmta.proof_delivery(delivery => $1, seeds => $2::text[], subscription_ids => $3::bigint[],
                push_tokens => $4::text[], start => $5)
            """,
            [
                .int64(delivery), addresses.map { .textArray($0.seeds) } ?? .null,
                addresses.map { .int64Array($0.subscriptionIDs) } ?? .null,
                addresses.map { .textArray($0.pushTokens) } ?? .null, .bool(start),
            ]
        )
        return try result.int64(0, 0)
    }
}
