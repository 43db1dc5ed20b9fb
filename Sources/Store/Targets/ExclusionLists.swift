import PostgresClient
import PushCore

/// A named list of people who get no messages of the deliveries that use it.
package struct ExclusionListRow: Sendable, Hashable {
    /// Unique.
    package let name: String
    /// The display name.
    package let label: String
    package let userKeys: Int64
    package let subscriptions: Int64
    package let pushTokens: Int64

    package init(name: String, label: String, userKeys: Int64, subscriptions: Int64, pushTokens: Int64) {
        self.name = name
        self.label = label
        self.userKeys = userKeys
        self.subscriptions = subscriptions
        self.pushTokens = pushTokens
    }
}

extension Store {
    package func createExclusionList(name: String, label: String = "") async throws {
        try NameCheck.name(name, of: "exclusion list")
        try NameCheck.label(label, of: "exclusion list")
        try await change("pushmta.create_exclusion_list($1, $2)", [.text(name), .text(label)])
    }

    /// Adds people to an exclusion list; returns how many were not on it before. Adding one again is not an error.
    @discardableResult
    package func addExclusions(list: String, _ people: Addressees) async throws -> Int64 {
        try await change("pushmta.add_exclusions($1, $2, $3, $4)", [.text(list)] + Self.arrays(people))
            .one { try $0.int64() }
    }

    /// Removes people from an exclusion list; returns how many were on it.
    @discardableResult
    package func removeExclusions(list: String, _ people: Addressees) async throws -> Int64 {
        try await change("pushmta.remove_exclusions($1, $2, $3, $4)", [.text(list)] + Self.arrays(people))
            .one { try $0.int64() }
    }

    /// Excludes people from one delivery before its start.
    package func exclude(_ people: Addressees, fromDelivery id: Int64) async throws {
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

    /// The addressees that are unknown: no subscription, enabled or not, has the key, the id or the token.
    ///
    /// - Returns: their indexes, from 0.
    package func unknownPlaces(_ addressees: [Addressee]) async throws -> [Int] {
        let result = try await query(
            """
            SELECT u.n FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY u(key, id, token, n)
            WHERE NOT CASE WHEN u.key IS NOT NULL THEN EXISTS (SELECT FROM pushmta_engine.subscription s
                    WHERE s.user_key = u.key AND s.user_key <> '')
                WHEN u.id IS NOT NULL THEN EXISTS (SELECT FROM pushmta_engine.subscription s WHERE s.id = u.id)
                ELSE EXISTS (SELECT FROM pushmta_engine.subscriptions_with(u.token)) END
            ORDER BY u.n
            """,
            [
                .textArray(addressees.map(\.userKey)), .int64ArrayWithNulls(addressees.map(\.subscriptionID)),
                .textArray(addressees.map(\.pushToken)),
            ]
        )
        return try all(result) { row in Int(try row.int64()) - 1 }
    }

    private static func arrays(_ people: Addressees) -> [PostgresValue] {
        [.textArray(people.userKeys), .int64Array(people.subscriptionIDs), .textArray(people.pushTokens)]
    }

    /// All exclusion lists by name.
    package func exclusionLists() async throws -> [ExclusionListRow] {
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

    /// The people on an exclusion list, newest first.
    package func exclusions(list: String, limit: Int) async throws -> Addressees {
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

    /// Deletes an exclusion list without a time limit: it may have tens of millions of people.
    ///
    /// Throws `conflict` if a delivery uses it. Otherwise it would no longer be known whom that delivery excluded, and
    /// a delivery not yet sent would go to the people on the list.
    package func deleteExclusionList(name: String) async throws {
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
                hint: "remove everyone from it with pushmta exclusion remove instead"
            )
        }
    }
}

/// An action on people and an exclusion list.
package enum ListAction: String, Sendable, Hashable, CaseIterable {
    /// Adds them.
    case put
    /// Removes them.
    case take
    /// Counts how many of them are on it.
    case find
}

extension Store {
    /// The maximum that is counted of each kind on a list, which takes half a millisecond. A count of this many means
    /// at least this many.
    package static let maxCountedOfList: Int64 = 1_000
    /// The maximum size of a list that a page deletes: half a million entries take a second or two on a slow disk.
    package static let maxDeletedOfList: Int32 = 500_000

    /// The exclusion lists that come after a name, for a signed-in user who may compose deliveries.
    package func listsOfExclusions(behind name: String, limit: Int, by actor: ConsoleActor) async throws
        -> [CountedList]
    {
        try await lists(nil, behind: name, limit: limit, actor)
    }

    /// An exclusion list by its id, for a signed-in user who may compose deliveries.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none.
    package func listOfExclusions(_ id: Int32, by actor: ConsoleActor) async throws -> CountedList {
        guard let list = try await lists(id, behind: "", limit: 1, actor).first else {
            throw StoreError(.notFound, "There is no exclusion list \(id).")
        }
        return list
    }

    private func lists(_ id: Int32?, behind name: String, limit: Int, _ actor: ConsoleActor) async throws
        -> [CountedList]
    {
        let result = try await query(
            """
            SELECT l.id, l.name, l.label, l.user_keys, l.subscriptions, l.push_tokens, l.is_used, l.changed_at
            FROM pushmta_engine.console_lists(\(ConsoleActor.caller), $5, $6, $7, $8) l
            """,
            actor.values + [
                id.map { .int32($0) } ?? .null, .text(name), .int32(Int32(clamping: limit)),
                .int32(Int32(clamping: Self.maxCountedOfList)),
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

    /// Creates an exclusion list for a signed-in user, and returns its id. The same transaction writes it to the audit
    /// log.
    package func createExclusionList(name: String, label: String, by actor: ConsoleActor) async throws -> Int32 {
        try NameCheck.name(name, of: "exclusion list")
        try NameCheck.label(label, of: "exclusion list")
        return try await query(
            "SELECT pushmta_engine.console_add_list(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.text(name), .text(label)]
        ).one { try $0.int32() }
    }

    /// Applies an action to people and an exclusion list, for a signed-in user. The audit log records how many people,
    /// not which.
    ///
    /// - Returns: the number of people added, removed or found.
    package func change(_ action: ListAction, exclusionList id: Int32, _ people: Addressees, by actor: ConsoleActor)
        async throws -> Int64
    {
        try await query(
            "SELECT pushmta_engine.console_change_list(\(ConsoleActor.caller), $5, $6, $7, $8, $9)",
            actor.values + [.int32(id), .text(action.rawValue)] + Self.arrays(people)
        ).one { try $0.int64() }
    }

    /// Deletes an exclusion list for a signed-in user. The same transaction writes it to the audit log.
    ///
    /// Throws ``StoreError`` of code `conflict` if a delivery uses it, with `sqlState` `PM135` if it has too many
    /// people to be deleted within a page's time limit.
    ///
    /// - Parameter limit: the maximum number of people on it.
    package func deleteExclusionList(_ id: Int32, limit: Int32 = Store.maxDeletedOfList, by actor: ConsoleActor)
        async throws
    {
        try await query(
            "SELECT pushmta_engine.console_remove_list(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.int32(id), .int32(limit)]
        )
    }
}
