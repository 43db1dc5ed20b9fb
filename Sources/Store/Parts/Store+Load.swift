import PostgresClient
import PushCore

extension Store {
    /// The messages of a claimed part, with fresh tokens and the named fields for personalisation.
    ///
    /// A field's value comes from the message's variables, else the subscription's parameters, else the recipient's fields.
    public func loadPart(_ part: ClaimedPart, fieldNames: [String]) async throws -> LoadedPart {
        part.isDense && !part.hasVariables
            ? try await loadDense(part, fieldNames) : try await loadSparse(part, fieldNames)
    }

    /// One index range over the application's subscriptions, merged with the part's ids here: half the cost of a look-up
    /// for each message.
    private func loadDense(_ part: ClaimedPart, _ fieldNames: [String]) async throws -> LoadedPart {
        let key: [PostgresValue] = [.date(daysSince2000: part.logDay.daysSince2000), .int64(part.id)]
        let results = try await group([
            PostgresStatement(Self.targetSQL, key),
            PostgresStatement(
                Self.denseSQL(fields: fieldNames.count),
                key + [.int32(part.applicationID)] + fieldNames.map { .text($0) }
            ),
        ])
        let ids = try first(results[0], orThrow: "Part \(part.id) has no target.") { rows, row in
            try rows.int64Array(row, 1)
        }
        var loaded = LoadedPart()
        loaded.subscriptionIDs = ids
        loaded.sequences = try Self.sequences(results[0], count: ids.count)
        loaded.reserve(ids.count, fields: fieldNames.count)
        let rows = results[1]
        var found: [Int64] = []
        try rows.appendColumn(0, to: &found)
        var row = 0
        for id in ids {
            while row < found.count, found[row] < id { row += 1 }
            if row < found.count, found[row] == id {
                try loaded.append(rows, row, verdict: 1, token: 2, firstField: 3)
            } else {
                loaded.appendMissing()
            }
        }
        return loaded
    }

    static let targetSQL = """
        SELECT first_sequence, subscription_ids, sequences FROM pushmta_engine.delivery_part_target
        WHERE log_day = $1 AND part_id = $2
        """

    static func denseSQL(fields: Int) -> String {
        """
        SELECT s.id, s.exclusion, s.push_token\(fieldColumns(fields, from: 4, sources: ["s.parameters", "s.recipient"]))
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
    private func loadSparse(_ part: ClaimedPart, _ fieldNames: [String]) async throws -> LoadedPart {
        let key: [PostgresValue] = [.date(daysSince2000: part.logDay.daysSince2000), .int64(part.id)]
        let results = try await group([
            PostgresStatement(Self.targetSQL, key),
            PostgresStatement(
                Self.sparseSQL(fields: fieldNames.count, variables: part.hasVariables),
                key + fieldNames.map { .text($0) }
            ),
        ])
        let ids = try first(results[0], orThrow: "Part \(part.id) has no target.") { rows, row in
            try rows.int64Array(row, 1)
        }
        var loaded = LoadedPart()
        loaded.subscriptionIDs = ids
        loaded.sequences = try Self.sequences(results[0], count: ids.count)
        loaded.reserve(ids.count, fields: fieldNames.count)
        let rows = results[1]
        guard rows.rowCount == ids.count else {
            throw StoreError(
                .unexpectedAnswer,
                "Part \(part.id) has \(ids.count) messages, \(rows.rowCount) were read."
            )
        }
        for row in 0..<rows.rowCount {
            if rows.isNull(row, 1) {
                loaded.appendMissing()
            } else {
                try loaded.append(rows, row, verdict: 0, token: 1, firstField: 2)
            }
        }
        return loaded
    }

    static func sparseSQL(fields: Int, variables: Bool) -> String {
        let sources = variables ? ["v.variables", "s.parameters", "s.recipient"] : ["s.parameters", "s.recipient"]
        return """
            SELECT s.exclusion, s.push_token\(fieldColumns(fields, from: 3, sources: sources))
            FROM pushmta_engine.delivery_part_target t
            CROSS JOIN LATERAL unnest(t.subscription_ids, t.target_ids) WITH ORDINALITY u(subscription_id, target_id, place)
            LEFT JOIN pushmta_engine.subscription s ON s.id = u.subscription_id
            \(variables ? "LEFT JOIN pushmta.delivery_target v ON v.id = u.target_id" : "")
            WHERE t.log_day = $1 AND t.part_id = $2
            ORDER BY u.place
            """
    }

    /// `, coalesce(a ->> $4, b ->> $4)` for each field; names travel as parameters.
    private static func fieldColumns(_ count: Int, from first: Int, sources: [String]) -> String {
        (0..<count).map { field in
            ", coalesce(" + sources.map { "\($0) ->> $\(first + field)" }.joined(separator: ", ") + ")"
        }.joined()
    }

    private static func sequences(_ target: PostgresResult, count: Int) throws -> [Int32] {
        if let sequences = try target.int32ArrayOrNil(0, 2) {
            guard sequences.count == count else {
                throw StoreError(
                    .unexpectedAnswer,
                    "A part has \(count) messages and \(sequences.count) sequence numbers."
                )
            }
            return sequences
        }
        let first = try target.int32(0, 0)
        return (0..<Int32(count)).map { first &+ $0 }
    }
}

extension LoadedPart {
    mutating func reserve(_ rows: Int, fields names: Int) {
        verdicts.reserveCapacity(rows)
        // An APNs token has 64 characters, an FCM token about 160; a field is a word.
        tokens.reserve(rows: rows, bytes: rows * 64)
        fields = Array(repeating: ByteColumn(), count: names)
        for field in fields.indices { fields[field].reserve(rows: rows, bytes: rows * 12) }
    }

    mutating func append(_ rows: PostgresResult, _ row: Int, verdict: Int, token: Int, firstField: Int) throws {
        let code = try rows.int16(row, verdict)
        guard let verdict = LoadVerdict(rawValue: code) else {
            throw StoreError(
                .unexpectedAnswer,
                "A subscription is excluded for reason \(code), which this program does not know."
            )
        }
        verdicts.append(verdict)
        tokens.append { rows.append(row, token, to: &$0) }
        for field in fields.indices {
            fields[field].append { rows.append(row, firstField + field, to: &$0) }
        }
    }

    mutating func appendMissing() {
        verdicts.append(.missing)
        tokens.appendNull()
        for field in fields.indices { fields[field].appendNull() }
    }
}
