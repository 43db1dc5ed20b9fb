import PostgresClient
import PushCore

/// A seed address: who gets proofs of deliveries; the token is for the operator who asked, not for logs.
public struct SeedRow: Sendable, Hashable {
    /// Its name in commands and SQL, unique.
    public let name: String
    /// Whose it is, for people.
    public let label: String
    public let application: String
    /// The platform of its application.
    public let platform: Platform
    public let subscriptionID: Int64
    /// The token that the gateway knows.
    public let pushToken: String
    /// The language of its messages, a tag; "" if unknown.
    public let locale: String
    /// The values that its messages take for their fields, a JSON object.
    public let variables: String
    /// Whether its subscription is no subscriber's: deliveries leave it out, only proofs go to it.
    public let isSeedOnly: Bool
    /// Why it cannot get anything, "" if it can: `disabled`, `opted_out` or `quarantine`.
    public let problem: String

    public init(
        name: String,
        label: String,
        application: String,
        platform: Platform,
        subscriptionID: Int64,
        pushToken: String,
        locale: String,
        variables: String,
        isSeedOnly: Bool,
        problem: String
    ) {
        self.name = name
        self.label = label
        self.application = application
        self.platform = platform
        self.subscriptionID = subscriptionID
        self.pushToken = pushToken
        self.locale = locale
        self.variables = variables
        self.isSeedOnly = isSeedOnly
        self.problem = problem
    }
}

/// A seed address to add.
public struct NewSeed: Sendable {
    /// What names its subscription.
    public enum Address: Sendable, Hashable {
        /// A subscription by its id.
        case subscription(Int64)
        /// The newest subscription of a user in the application.
        case userKey(String)
        /// A push token of the application; it need not be a subscriber's.
        case pushToken(String)
    }

    /// Its name in commands and SQL: no number and without a comma.
    public var name: String
    /// Whose it is, for people.
    public var label: String
    /// Name of its application; a subscription's id needs none.
    public var application: String?
    public var address: Address
    /// The values that its messages take for their fields, a JSON object; nil for those of the subscription.
    public var variables: String?
    /// The language of a token that is no subscriber's, a tag.
    public var locale: String

    public init(
        name: String,
        label: String = "",
        application: String? = nil,
        address: Address,
        variables: String? = nil,
        locale: String = ""
    ) {
        self.name = name
        self.label = label
        self.application = application
        self.address = address
        self.variables = variables
        self.locale = locale
    }
}

/// Who gets a proof: nobody when all three are empty.
public struct ProofAddresses: Sendable, Hashable {
    public var seeds: [String]
    public var subscriptionIDs: [Int64]
    public var pushTokens: [String]

    public init(seeds: [String] = [], subscriptionIDs: [Int64] = [], pushTokens: [String] = []) {
        self.seeds = seeds
        self.subscriptionIDs = subscriptionIDs
        self.pushTokens = pushTokens
    }
}

extension Store {
    /// The `subscription.exclusion` of what was made for a seed address: it is nobody's, so no audience has it and none leaves it out.
    static let seedExclusion: Int16 = 9

    /// Whether a subscription `s` is there for a seed address alone: it is in no audience, and only what names seed addresses goes to it. Not if a subscriber had its
    /// token who is sent nothing any more; that is asked last, as it costs look-ups.
    static let isSeedOnlySQL = """
        (CASE WHEN s.exclusion = \(seedExclusion) AND s.disabled_reason = 'seed'
            THEN pushmta_engine.token_bar(s.application_id, s.push_token) IS NULL ELSE false END)
        """

    /// Says which seed addresses get a delivery beside its target, before its start: those of these names, nil for all of its applications.
    public func setSeeds(ofDelivery id: Int64, _ names: [String]?) async throws {
        try await change("pushmta.set_seeds($1, $2::text[])", [.int64(id), names.map { .textArray($0) } ?? .null])
    }

    /// All seed addresses by name.
    public func seeds() async throws -> [SeedRow] {
        let result = try await query(
            """
            SELECT s.name, s.label, s.application, s.platform, s.subscription_id, t.push_token, s.locale, s.variables::text,
                s.is_seed_only, s.problem
            FROM pushmta.seed s JOIN pushmta.subscription_token t ON t.id = s.subscription_id ORDER BY s.name
            """
        )
        return try all(result) { row in
            SeedRow(
                name: try row.text(),
                label: try row.text(),
                application: try row.text(),
                platform: try row.choice(),
                subscriptionID: try row.int64(),
                pushToken: try row.text(),
                locale: try row.text(),
                variables: try row.text(),
                isSeedOnly: try row.bool(),
                problem: try row.text()
            )
        }
    }

    /// Adds a seed address; returns the id of its subscription.
    @discardableResult
    public func addSeed(_ seed: NewSeed) async throws -> Int64 {
        try NameCheck.name(seed.name, of: "seed address")
        try NameCheck.label(seed.label, of: "seed address")
        let address = seed.address
        let result = try await change(
            """
            pushmta.add_seed(name => $1, application => $2, subscription_id => $3::bigint, user_key => $4, push_token => $5,
                variables => $6::text::jsonb, label => $7, locale => $8)
            """,
            [
                .text(seed.name), .textOrNull(seed.application), .int64OrNull(address.subscription),
                .textOrNull(address.userKey), .textOrNull(address.pushToken),
                .textOrNull(seed.variables), .text(seed.label), .text(LocaleTag.canonical(seed.locale)),
            ]
        )
        return try result.one { try $0.int64() }
    }

    /// Removes a seed address; a subscription that was made for it gets nothing any more.
    public func removeSeed(named name: String) async throws {
        try await change("pushmta.remove_seed($1)", [.text(name)])
    }

    /// Tells names of seed addresses, ids of subscriptions and push tokens apart.
    ///
    /// A name goes before everything else; what is no name and a number is a subscription, and the rest are tokens. Throws `notFound`
    /// for what is too short for a token: a mistyped name.
    public func proofAddresses(_ words: [String]) async throws -> ProofAddresses {
        let found = try await query("SELECT d.name FROM pushmta.seed d WHERE d.name = ANY($1)", [.textArray(words)])
        let names = Set(try all(found) { row in try row.text() })
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
        return try result.one { try $0.int64() }
    }
}

/// A seed address as pages list it: without its token.
public struct ListedSeed: Sendable, Hashable {
    public let name: String
    /// Whose it is.
    public let label: String
    public let application: String
    /// The platform of its application.
    public let platform: Platform
    public let subscriptionID: Int64
    /// The language of its messages; "" if unknown.
    public let locale: String
    /// The values that its messages take for their fields, a JSON object.
    public let variables: String
    /// Whether its subscription is no subscriber's: deliveries leave it out.
    public let isSeedOnly: Bool
    /// Why it cannot get anything; "" if it can.
    public let problem: String
}

extension Store {
    /// Seed addresses behind a name, for somebody who has signed in and may compose deliveries.
    public func seedList(behind name: String, most: Int, by actor: ConsoleActor) async throws -> [ListedSeed] {
        let result = try await query(
            """
            SELECT s.name, s.label, s.application, s.platform, s.subscription, s.locale, s.variables::text, s.is_seed_only, s.problem
            FROM pushmta_engine.console_seed_list($1, \(Self.momentAndIdle), $4, $5) s
            """,
            actor.values + [.text(name), .int32(Int32(clamping: most))]
        )
        return try all(result, Self.listedSeed)
    }

    static func listedSeed(_ row: inout RowReader) throws -> ListedSeed {
        ListedSeed(
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

    /// Adds a seed address for somebody who has signed in; it is on record in the same transaction.
    public func addSeed(_ seed: NewSeed, by actor: ConsoleActor) async throws {
        try NameCheck.name(seed.name, of: "seed address")
        try NameCheck.label(seed.label, of: "seed address")
        let address = seed.address
        try await query(
            """
            SELECT pushmta_engine.console_add_seed($1, \(Self.momentAndIdle), $4, $5, $6, $7::bigint, $8, $9, $10::text::jsonb, $11, $12)
            """,
            actor.values + [
                .text(actor.address), .text(seed.name), .textOrNull(seed.application),
                .int64OrNull(address.subscription), .textOrNull(address.userKey), .textOrNull(address.pushToken),
                .textOrNull(seed.variables), .text(seed.label), .text(LocaleTag.canonical(seed.locale)),
            ]
        )
    }

    /// Takes a seed address away for somebody who has signed in; it is on record in the same transaction.
    public func removeSeed(named name: String, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_remove_seed($1, \(Self.momentAndIdle), $4, $5)",
            actor.values + [.text(actor.address), .text(name)]
        )
    }
}

extension NewSeed.Address {
    fileprivate var subscription: Int64? { if case .subscription(let id) = self { id } else { nil } }
    fileprivate var userKey: String? { if case .userKey(let key) = self { key } else { nil } }
    fileprivate var pushToken: String? { if case .pushToken(let token) = self { token } else { nil } }
}
