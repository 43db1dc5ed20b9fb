import PostgresClient
import PushCore

/// A named list of people who get nothing of the deliveries that use it.
public struct ExclusionListRow: Sendable, Hashable {
    /// Unique.
    public let name: String
    /// The name people see.
    public let label: String
    public let userKeys: Int64
    public let subscriptions: Int64
    public let pushTokens: Int64

    public init(name: String, label: String, userKeys: Int64, subscriptions: Int64, pushTokens: Int64) {
        self.name = name
        self.label = label
        self.userKeys = userKeys
        self.subscriptions = subscriptions
        self.pushTokens = pushTokens
    }
}

/// People by what names them: for exclusions and explicit targets.
public struct Addressees: Sendable, Hashable {
    /// Users, with all their subscriptions.
    public var userKeys: [String]
    public var subscriptionIDs: [Int64]
    public var pushTokens: [String]

    public init(userKeys: [String] = [], subscriptionIDs: [Int64] = [], pushTokens: [String] = []) {
        self.userKeys = userKeys
        self.subscriptionIDs = subscriptionIDs
        self.pushTokens = pushTokens
    }

    public var isEmpty: Bool { userKeys.isEmpty && subscriptionIDs.isEmpty && pushTokens.isEmpty }

    /// How many names it has.
    public var count: Int { userKeys.count + subscriptionIDs.count + pushTokens.count }
}

extension Store {
    public func createExclusionList(name: String, label: String = "") async throws {
        try NameCheck.name(name, of: "exclusion list")
        try NameCheck.label(label, of: "exclusion list")
        try await change("pushmta.create_exclusion_list($1, $2)", [.text(name), .text(label)])
    }

    /// Adds people to an exclusion list; returns how many were not on it. What is there already may come again.
    @discardableResult
    public func addExclusions(list: String, _ people: Addressees) async throws -> Int64 {
        try await change("pushmta.add_exclusions($1, $2, $3, $4)", [.text(list)] + Self.arrays(people))
            .one { try $0.int64() }
    }

    /// Takes people off an exclusion list; returns how many were on it.
    @discardableResult
    public func removeExclusions(list: String, _ people: Addressees) async throws -> Int64 {
        try await change("pushmta.remove_exclusions($1, $2, $3, $4)", [.text(list)] + Self.arrays(people))
            .one { try $0.int64() }
    }

    /// Excludes people from one delivery, before its start.
    public func exclude(_ people: Addressees, fromDelivery id: Int64) async throws {
        try await query(
            """
            INSERT INTO pushmta.delivery_exclusion (delivery_id, user_key, subscription_id, push_token)
            SELECT $1, u, NULL, NULL FROM unnest($2::text[]) u
            UNION ALL SELECT $1, NULL, s, NULL FROM unnest($3::bigint[]) s
            UNION ALL SELECT $1, NULL, NULL, t FROM unnest($4::text[]) t
            """,
            [.int64(id)] + Self.arrays(people)
        )
    }

    /// Which of these are unknown: no subscription, enabled or not, has the key, the id or the token.
    ///
    /// - Returns: their places, beginning with 0.
    public func unknownPlaces(_ targets: [ExplicitTarget]) async throws -> [Int] {
        var (keys, ids, tokens): ([String?], [Int64?], [String?]) = ([], [], [])
        for target in targets {
            var (key, id, token): (String?, Int64?, String?)
            switch target.addressee {
            case .user(let value): key = value
            case .subscription(let value): id = value
            case .pushToken(let value): token = value
            }
            keys.append(key)
            ids.append(id)
            tokens.append(token)
        }
        let result = try await query(
            """
            SELECT u.n FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY u(key, id, token, n)
            WHERE NOT CASE WHEN u.key IS NOT NULL THEN EXISTS (SELECT FROM pushmta_engine.subscription s
                    WHERE s.user_key = u.key AND s.user_key <> '')
                WHEN u.id IS NOT NULL THEN EXISTS (SELECT FROM pushmta_engine.subscription s WHERE s.id = u.id)
                ELSE EXISTS (SELECT FROM pushmta_engine.subscriptions_with(u.token)) END
            ORDER BY u.n
            """,
            [.textArray(keys), .int64ArrayWithNulls(ids), .textArray(tokens)]
        )
        return try all(result) { row in Int(try row.int64()) - 1 }
    }

    private static func arrays(_ people: Addressees) -> [PostgresValue] {
        [.textArray(people.userKeys), .int64Array(people.subscriptionIDs), .textArray(people.pushTokens)]
    }

    /// All exclusion lists by name.
    public func exclusionLists() async throws -> [ExclusionListRow] {
        let result = try await query(
            """
            SELECT l.name, l.label, l.user_keys, l.subscriptions, l.push_tokens FROM pushmta.exclusion_list l ORDER BY l.name
            """
        )
        return try all(result) { row in
            ExclusionListRow(
                name: try row.text(),
                label: try row.text(),
                userKeys: try row.int64(),
                subscriptions: try row.int64(),
                pushTokens: try row.int64()
            )
        }
    }

    /// Who is on an exclusion list, what was added last first.
    public func exclusions(list: String, limit: Int) async throws -> Addressees {
        let result = try await query(
            """
            SELECT e.user_key, e.subscription_id, e.push_token FROM pushmta_engine.exclusion_entry e
            WHERE e.list_id = pushmta_engine.find_exclusion_list($1) ORDER BY e.added_at DESC LIMIT $2
            """,
            [.text(list), .int64(Int64(limit))]
        )
        var people = Addressees()
        try result.each { row in
            if let key = try row.textOrNil() { people.userKeys.append(key) }
            if let id = try row.int64OrNil() { people.subscriptionIDs.append(id) }
            if let token = try row.textOrNil() { people.pushTokens.append(token) }
        }
        return people
    }

    /// Deletes an exclusion list, however long that takes: tens of millions of people may be on it.
    ///
    /// Throws `conflict` if a delivery has it: what it excluded would not be known any more, and a delivery that is to come
    /// would go to those who were on it.
    public func deleteExclusionList(name: String) async throws {
        do {
            _ = try await group([
                PostgresStatement("SELECT set_config('statement_timeout', '0', true)"),
                PostgresStatement(
                    "DELETE FROM pushmta_engine.exclusion_list l WHERE l.id = pushmta_engine.find_exclusion_list($1)",
                    [.text(name)]
                ),
            ])
        } catch let error as PostgresError where error.sqlState == "23503" {
            throw StoreError(
                .conflict,
                "Exclusion list \"\(name)\" belongs to a delivery.",
                hint: "take everybody off it with pushmta exclusion remove instead"
            )
        }
    }
}

/// An exclusion list as pages show it; who is on it is counted to a limit.
public struct CountedList: Sendable, Hashable {
    public let id: Int32
    /// Unique.
    public let name: String
    /// The name people see.
    public let label: String
    /// Users, subscriptions and push tokens on it.
    public let people: [Int64]
    /// Whether a delivery has it.
    public let isUsed: Bool
    /// When it was changed last.
    public let changedAt: DatabaseTime
}

/// What is done with people and an exclusion list.
public enum ListAction: String, Sendable, Hashable, CaseIterable {
    /// Puts them on it.
    case put
    /// Takes them off it.
    case take
    /// Says how many of them are on it.
    case find
}

extension Store {
    /// So many of each kind are counted of a list, half a millisecond's worth; who has as many has at least so many.
    public static let mostCountedOfList: Int64 = 1_000
    /// So many may be on a list that is deleted while somebody waits: half a million take a second or two on a slow disk.
    public static let mostDeletedOfList: Int32 = 500_000

    /// Exclusion lists behind a name, for somebody who has signed in and may compose deliveries.
    public func listsOfExclusions(behind name: String, most: Int, by actor: ConsoleActor) async throws -> [CountedList]
    {
        try await lists(nil, behind: name, most: most, actor)
    }

    /// An exclusion list by its id, for somebody who has signed in and may compose deliveries.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none.
    public func listOfExclusions(_ id: Int32, by actor: ConsoleActor) async throws -> CountedList {
        guard let list = try await lists(id, behind: "", most: 1, actor).first else {
            throw StoreError(.notFound, "There is no exclusion list \(id).")
        }
        return list
    }

    private func lists(_ id: Int32?, behind name: String, most: Int, _ actor: ConsoleActor) async throws
        -> [CountedList]
    {
        let result = try await query(
            """
            SELECT l.id, l.name, l.label, l.user_keys, l.subscriptions, l.push_tokens, l.is_used, l.changed_at
            FROM pushmta_engine.console_lists($1, \(Self.momentAndIdle), $4, $5, $6, $7) l
            """,
            actor.values + [
                id.map { .int32($0) } ?? .null, .text(name), .int32(Int32(clamping: most)),
                .int32(Int32(clamping: Self.mostCountedOfList)),
            ]
        )
        return try all(result, Self.countedList)
    }

    static func countedList(_ row: inout RowReader) throws -> CountedList {
        CountedList(
            id: try row.int32(),
            name: try row.text(),
            label: try row.text(),
            people: [try row.int64(), try row.int64(), try row.int64()],
            isUsed: try row.bool(),
            changedAt: try row.time()
        )
    }

    /// Makes an exclusion list for somebody who has signed in, and returns its id; it is on record in the same transaction.
    public func createExclusionList(name: String, label: String, by actor: ConsoleActor) async throws -> Int32 {
        try NameCheck.name(name, of: "exclusion list")
        try NameCheck.label(label, of: "exclusion list")
        return try await query(
            "SELECT pushmta_engine.console_add_list($1, \(Self.momentAndIdle), $4, $5, $6)",
            actor.values + [.text(actor.address), .text(name), .text(label)]
        ).one { try $0.int32() }
    }

    /// Does something with people and an exclusion list for somebody who has signed in; it is on record how many, and not who.
    ///
    /// - Returns: how many were new on it, were taken off it, or are on it.
    public func change(_ action: ListAction, exclusionList id: Int32, _ people: Addressees, by actor: ConsoleActor)
        async throws -> Int64
    {
        try await query(
            "SELECT pushmta_engine.console_change_list($1, \(Self.momentAndIdle), $4, $5, $6, $7, $8, $9)",
            actor.values + [.text(actor.address), .int32(id), .text(action.rawValue)] + Self.arrays(people)
        ).one { try $0.int64() }
    }

    /// Takes an exclusion list away for somebody who has signed in; it is on record in the same transaction.
    ///
    /// Throws ``StoreError`` of code `conflict` if a delivery has it, and with `sqlState` `PM135` if more people are on it than the time
    /// of a page suffices for.
    ///
    /// - Parameter most: so many may be on it.
    public func deleteExclusionList(_ id: Int32, most: Int32 = Store.mostDeletedOfList, by actor: ConsoleActor)
        async throws
    {
        try await query(
            "SELECT pushmta_engine.console_remove_list($1, \(Self.momentAndIdle), $4, $5, $6)",
            actor.values + [.text(actor.address), .int32(id), .int32(most)]
        )
    }
}
