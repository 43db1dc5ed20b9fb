import PostgresClient
import PushCore

/// How many messages a delivery would make now for an application.
package struct TargetCount: Sendable, Hashable, Encodable {
    package let application: String
    package let messages: Int64
    /// People that the target selects and that get no message.
    package let excluded: Int64

    fileprivate init(_ row: inout RowReader) throws {
        application = try row.text()
        messages = try row.int64()
        excluded = try row.int64()
    }
}

/// What a supervisor has counted of a delivery's target.
package struct TargetCountAnswer: Sendable, Hashable {
    /// By application; empty until it is counted.
    package let counts: [TargetCount]
    /// Why it was not counted; "" if it was, or will be.
    package let problem: String
    /// Nil until it is counted.
    package let answeredAt: DatabaseTime?
}

extension Store {
    /// Asks a supervisor to count the target of a delivery, and returns the answer as soon as there is one.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func askTargetCount(ofDelivery id: Int64) async throws -> TargetCountAnswer {
        let result = try await query(
            "SELECT c.application, c.messages, c.excluded, c.problem, c.answered_at FROM pushmta.count_target($1) c",
            [.int64(id)]
        )
        var counts: [TargetCount] = []
        var problem = ""
        var answeredAt: DatabaseTime?
        try result.each { row in
            if let count = try row.ifPresent(3, TargetCount.init) { counts.append(count) }
            problem = try row.text()
            answeredAt = try row.timeOrNil()
        }
        return TargetCountAnswer(counts: counts, problem: problem, answeredAt: answeredAt)
    }

    /// Counts what a delivery that has not begun would send now, by application, without its seed addresses. The rules
    /// are those of its preparation.
    ///
    /// Throws ``StoreError`` of code `notFound`; `invalid` if its filter cannot be used, or if only an analysis can count
    /// it; `unavailable` if it takes too long.
    package func countTarget(ofDelivery id: Int64, within limit: Duration = .seconds(10)) async throws -> [TargetCount]
    {
        guard let target = try await chunkTargets(of: [id])[id] else {
            throw StoreError(
                .notFound,
                "There is no delivery \(id).",
                hint: "pushmta delivery list shows the deliveries"
            )
        }
        if let reason = target.uncountable {
            throw StoreError(
                .invalid,
                "The target of delivery \(id) cannot be counted in advance: \(reason).",
                hint: "pushmta delivery analyze counts it"
            )
        }
        let list = try await query(
            "SELECT d.target_kind = 'explicit', d.allow_duplicates FROM pushmta_engine.delivery d WHERE d.id = $1",
            [.int64(id)]
        ).one { row in (isExplicit: try row.bool(), allowsDuplicates: try row.bool()) }
        let source =
            list.isExplicit
            ? ChunkTarget.named(allowsDuplicates: list.allowsDuplicates) : ChunkTarget.everybody
        let unused = Array(repeating: PostgresValue.int64(0), count: ChunkTarget.firstFilterParameter - 2)
        do {
            let results = try await group([
                Self.limit(limit),
                PostgresStatement(
                    target.countSQL(from: source),
                    [.int64(id)] + unused + (target.filter?.parameters ?? []),
                    prepare: false
                ),
            ])
            return try all(results[1], TargetCount.init)
        } catch let error as PostgresError where LoadProblem.isTimeout(error) {
            throw StoreError(
                .unavailable,
                "The target of delivery \(id) could not be counted within \(limit.components.seconds) s.",
                hint: "pushmta delivery analyze counts it without a limit"
            )
        }
    }
}

extension ChunkTarget {
    /// Why the target cannot be counted without preparing it; nil if it can.
    fileprivate var uncountable: String? {
        if readMapping != nil { return "its filter reads columns of a target mapping" }
        if hasSharedTokens { return "its applications may share push tokens, which get one message" }
        return nil
    }

    /// The subscribers of the applications.
    fileprivate static let everybody = "app x JOIN pushmta_engine.subscription s ON s.application_id = x.application_id"

    /// The subscriptions that a list of targets names.
    fileprivate static func named(allowsDuplicates: Bool) -> String {
        """
        (SELECT \(allowsDuplicates ? "" : "DISTINCT ")s.id FROM (
            SELECT s.id FROM pushmta.delivery_target t JOIN pushmta_engine.subscription s ON s.id = t.subscription_id
            WHERE t.delivery_id = $1
            UNION ALL
            SELECT s.id FROM pushmta.delivery_target t
            JOIN pushmta_engine.subscription s ON s.user_key = t.user_key AND s.user_key <> '' WHERE t.delivery_id = $1
            UNION ALL
            SELECT s.id FROM pushmta.delivery_target t CROSS JOIN app x
            JOIN pushmta_engine.subscription s ON s.application_id = x.application_id AND s.push_token = t.push_token AND s.enabled
            WHERE t.delivery_id = $1) s) n
        JOIN pushmta_engine.subscription s ON s.id = n.id JOIN app x ON x.application_id = s.application_id
        """
    }

    /// Counts the subscriptions that get a message, and those that are selected and get none.
    ///
    /// Parameters: $1 delivery, and those of the filter.
    ///
    /// - Parameter source: the subscriptions `s` of applications `x`.
    fileprivate func countSQL(from source: String) -> String {
        """
        WITH app AS MATERIALIZED (
            SELECT x.application_id, a.name FROM pushmta_engine.delivery_application x
            JOIN pushmta_engine.application a ON a.id = x.application_id WHERE x.delivery_id = $1
        ), experiment AS MATERIALIZED (
            SELECT e.seed, pushmta_engine.cell_bounds(e.delivery_id) AS bounds FROM pushmta_engine.experiment e
            WHERE e.delivery_id = $1 AND e.hold_out > 0
        ), chosen AS (
            SELECT s.application_id, s.exclusion, \(place) AS place, (SELECT pushmta_engine.cell_at(
                pushmta_engine.person_share(coalesce(nullif(s.user_key, ''), s.id::text), e.seed), e.bounds) = 0
                FROM experiment e) IS TRUE AS is_held_out
            FROM (
                SELECT s.application_id, s.id, s.user_key, s.registered_at,
                    CASE \(PreparationChunk.exclusionCases(self).joined(separator: " ")) ELSE 0 END AS exclusion
                FROM \(source)
            ) s WHERE s.exclusion >= 0
        )
        SELECT x.name, count(c.application_id) FILTER (WHERE c.exclusion = 0 AND c.place = 1 AND NOT c.is_held_out),
            count(c.application_id) FILTER (WHERE c.exclusion > 0 OR c.place > 1 OR c.is_held_out)
        FROM app x LEFT JOIN chosen c ON c.application_id = x.application_id GROUP BY x.name ORDER BY x.name
        """
    }

    /// The place of a subscription among those of its person that would get the message.
    private var place: String {
        guard onePerUser else { return "1" }
        return """
            CASE WHEN s.user_key = '' OR s.exclusion <> 0 THEN 1 ELSE row_number() OVER (
                PARTITION BY s.user_key, s.exclusion = 0 ORDER BY s.registered_at DESC, s.id DESC) END
            """
    }
}
