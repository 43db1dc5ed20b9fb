import PostgresClient
import PushCore

extension Store {
    /// The messages of a claimed part, with fresh tokens and the values that their payloads need.
    package func loadPart(_ part: ClaimedPart, _ fields: MessageFields) async throws -> LoadedPart {
        var loaded = try await loadOwn(part, fields)
        if fields.isMapped { try await fill(&loaded, fields) }
        return loaded
    }

    /// The messages' values from PushMTA's own tables.
    func loadOwn(_ part: ClaimedPart, _ fields: MessageFields) async throws -> LoadedPart {
        part.isDense && !part.hasVariables
            ? try await loadDense(part, fields) : try await loadSparse(part, fields)
    }

    /// The messages of several small parts of one delivery, in the order of the parts: one round trip for all, because
    /// parts of single messages come by the hundred.
    ///
    /// - Parameter parts: of one delivery and application.
    package func loadParts(_ parts: [ClaimedPart], _ fields: MessageFields) async throws -> [LoadedPart] {
        guard let one = parts.first else { return [] }
        let key: [PostgresValue] = [.date(daysSince2000: one.logDay.daysSince2000), .int64Array(parts.map(\.id))]
        let results = try await group([
            PostgresStatement(
                Self.sharedSQL(fields, variables: parts.contains(where: \.hasVariables)),
                key + fields.parameters
            ),
            SubscriptionAcceptance.statement(parts),
        ])
        let rows = results[0]
        let acceptance = try SubscriptionAcceptance(results[1])
        var loaded: [Int64: LoadedPart] = [:]
        for row in 0..<rows.rowCount {
            let id = try rows.int64(row, LoadedPart.partColumn(fields))
            var all = loaded.removeValue(forKey: id) ?? LoadedPart(room: 1, for: fields)
            try all.append(shared: rows, row, fields)
            loaded[id] = all
        }
        return try parts.map { part in
            guard var all = loaded[part.id], all.count == Int(part.size) else {
                throw StoreError(
                    .unexpectedAnswer,
                    "Part \(part.id) has \(part.size) messages, \(loaded[part.id]?.count ?? 0) were read."
                )
            }
            all.accepted = acceptance.flags(all.subscriptionIDs)
            return all
        }
    }

    /// One index range over the application's subscriptions, merged here with the part's ids: half the cost of a
    /// look-up for each message.
    private func loadDense(_ part: ClaimedPart, _ fields: MessageFields) async throws -> LoadedPart {
        let key: [PostgresValue] = [.date(daysSince2000: part.logDay.daysSince2000), .int64(part.id)]
        let statements = [
            PostgresStatement(Self.targetSQL, key),
            PostgresStatement(
                Self.denseSQL(fields),
                key + [.int32(part.applicationID)] + fields.parameters
            ),
            SubscriptionAcceptance.statement(part),
        ]
        let results = try await group(statements + Self.optOuts(of: key, fields))
        var loaded = LoadedPart()
        (loaded.subscriptionIDs, loaded.sequences) = try Self.target(results[0], of: part)
        let ids = loaded.subscriptionIDs
        loaded.accepted = try SubscriptionAcceptance(results[2]).flags(ids)
        loaded.reserve(ids.count, fields)
        let rows = results[1]
        var found: [Int64] = []
        try rows.appendColumn(0, to: &found)
        var row = 0
        for id in ids {
            while row < found.count, found[row] < id { row += 1 }
            if row < found.count, found[row] == id {
                try loaded.append(rows, row, decision: 1, token: 2, firstField: 4, fields)
            } else {
                loaded.appendMissing(fields)
            }
        }
        if results.count > 3 { loaded.optOut(try all(results[3]) { row in try row.int64() }) }
        return loaded
    }

    /// Reads the opt-outs from the delivery's category in the range of a part. A look-up for each message would cost more
    /// than all else that is read of it.
    private static func optOuts(of key: [PostgresValue], _ fields: MessageFields) -> [PostgresStatement] {
        fields.category.map { [PostgresStatement(optOutsSQL, key + [.int32($0)])] } ?? []
    }

    /// In the order of the ids.
    static let optOutsSQL = """
        SELECT o.subscription_id FROM pushmta_engine.category_opt_out o
        WHERE o.category_id = $3
            AND o.subscription_id >= (SELECT t.subscription_ids[1] FROM pushmta_engine.delivery_part_target t
                WHERE t.log_day = $1 AND t.part_id = $2)
            AND o.subscription_id <= (SELECT t.subscription_ids[cardinality(t.subscription_ids)]
                FROM pushmta_engine.delivery_part_target t WHERE t.log_day = $1 AND t.part_id = $2)
        ORDER BY o.subscription_id
        """

    /// Distinguishes users, and nothing more; 0 without a user key.
    static let userHashSQL = "CASE WHEN s.user_key = '' THEN 0 ELSE hashtext(s.user_key) END"

    /// The addressees of a part's messages, and their numbers, from the result of ``targetSQL``.
    private static func target(_ result: PostgresResult, of part: ClaimedPart) throws -> (
        subscriptionIDs: [Int64], sequences: [Int32]
    ) {
        let found = try result.oneOrNil { row in
            (first: try row.int32(), ids: try row.int64Array(), sequences: try row.int32ArrayOrNil())
        }
        guard let target = found else { throw StoreError(.notFound, "Part \(part.id) has no target.") }
        guard let sequences = target.sequences else {
            return (target.ids, (0..<Int32(target.ids.count)).map { target.first &+ $0 })
        }
        guard sequences.count == target.ids.count else {
            throw StoreError(
                .unexpectedAnswer,
                "A part has \(target.ids.count) messages and \(sequences.count) sequence numbers."
            )
        }
        return (target.ids, sequences)
    }

    static let targetSQL = """
        SELECT first_sequence, subscription_ids, sequences FROM pushmta_engine.delivery_part_target
        WHERE log_day = $1 AND part_id = $2
        """

    static func denseSQL(_ fields: MessageFields) -> String {
        """
        SELECT s.id, \(LoadDecision.sql(fields, readsCategory: false)), s.push_token,
            \(userHashSQL)\(fields.columnsSQL(from: 4))
        FROM pushmta_engine.subscription s
        WHERE s.application_id = $3
            AND s.id >= (SELECT t.subscription_ids[1] FROM pushmta_engine.delivery_part_target t
                WHERE t.log_day = $1 AND t.part_id = $2)
            AND s.id <= (SELECT t.subscription_ids[cardinality(t.subscription_ids)]
                FROM pushmta_engine.delivery_part_target t WHERE t.log_day = $1 AND t.part_id = $2)
        ORDER BY s.id
        """
    }

    /// A look-up for each message: explicit targets and retries.
    private func loadSparse(_ part: ClaimedPart, _ fields: MessageFields) async throws -> LoadedPart {
        let key: [PostgresValue] = [.date(daysSince2000: part.logDay.daysSince2000), .int64(part.id)]
        let results = try await group([
            PostgresStatement(Self.targetSQL, key),
            PostgresStatement(
                Self.sparseSQL(fields, variables: part.hasVariables),
                key + fields.parameters
            ),
            SubscriptionAcceptance.statement(part),
        ])
        var loaded = LoadedPart()
        (loaded.subscriptionIDs, loaded.sequences) = try Self.target(results[0], of: part)
        let ids = loaded.subscriptionIDs
        loaded.accepted = try SubscriptionAcceptance(results[2]).flags(ids)
        loaded.reserve(ids.count, fields)
        let rows = results[1]
        guard rows.rowCount == ids.count else {
            throw StoreError(
                .unexpectedAnswer,
                "Part \(part.id) has \(ids.count) messages, \(rows.rowCount) were read."
            )
        }
        for row in 0..<rows.rowCount {
            if rows.isNull(row, 1) {
                loaded.appendMissing(fields)
            } else {
                try loaded.append(rows, row, decision: 0, token: 1, firstField: 3, fields)
            }
        }
        return loaded
    }

    /// A subscription that exists only for a seed address is only in parts of proofs and of seed addresses. Variables
    /// come from the list of targets, from the message in its part, or from the part itself if it was created for one
    /// message.
    static func sparseSQL(_ fields: MessageFields, variables: Bool) -> String {
        """
        SELECT \(messageColumns(fields, variables: variables))
        \(messagesSQL(variables: variables))
        WHERE t.log_day = $1 AND t.part_id = $2
        ORDER BY u.place
        """
    }

    /// The messages of several parts; each row ends with its part, its number and its subscription.
    static func sharedSQL(_ fields: MessageFields, variables: Bool) -> String {
        """
        SELECT \(messageColumns(fields, variables: variables)), t.part_id,
            coalesce(t.sequences[u.place], t.first_sequence + u.place::integer - 1), u.subscription_id
        \(messagesSQL(variables: variables))
        WHERE t.log_day = $1 AND t.part_id = ANY($2)
        ORDER BY t.part_id, u.place
        """
    }

    private static func messageColumns(_ fields: MessageFields, variables: Bool) -> String {
        """
        CASE WHEN \(isSeedOnlySQL) THEN 0::smallint ELSE \(LoadDecision.sql(fields)) END,
            s.push_token, \(userHashSQL)\(fields.columnsSQL(from: 3, variables: variables ? "coalesce(v.variables, u.variables, t.variables)" : nil))
        """
    }

    private static func messagesSQL(variables: Bool) -> String {
        """
        FROM pushmta_engine.delivery_part_target t
            CROSS JOIN LATERAL unnest(t.subscription_ids, t.target_ids\(variables ? ", t.message_variables" : ""))
                WITH ORDINALITY u(subscription_id, target_id\(variables ? ", variables" : ""), place)
            LEFT JOIN pushmta_engine.subscription s ON s.id = u.subscription_id
            \(variables ? "LEFT JOIN pushmta.delivery_target v ON v.id = u.target_id" : "")
        """
    }
}
