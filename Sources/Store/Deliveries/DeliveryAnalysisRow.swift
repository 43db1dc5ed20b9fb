import PostgresClient
import PushCore

/// What the analysis of a delivery found.
package struct DeliveryAnalysisRow: Sendable, Hashable {
    package let state: DeliveryState
    package let messages: Int64
    package let excluded: Int64
    package let rendered: Int64
    /// The smallest and the largest payload that was rendered, in bytes; nil if none was.
    package let smallest: Int32?
    package let largest: Int32?
    /// The number of rendered messages that would not be sent.
    package let refused: Int64
    /// The same by variant, JSON.
    package let variants: String
    /// The samples, JSON.
    package let samples: String
    /// Why an earlier analysis was made again or dropped; "" for none.
    package let remadeBecause: String
    /// How long sending takes at least, in seconds from the start, when the last message leaves then, and what decides
    /// it; nil if neither a limit nor a plan does.
    package let seconds: Double?
    package let endsAt: DatabaseTime?
    package let limitedBy: String?
    package let bound: SendingBound?
    package let requestedAt: DatabaseTime
    /// When these numbers were complete; nil before.
    package let finishedAt: DatabaseTime?
    /// Whether it holds: false while it is made, and after it was dropped.
    package let isFinished: Bool
    /// Until when a start sends its messages; nil if it does not hold, and once the delivery has started.
    package let validUntil: DatabaseTime?

    init(_ row: inout RowReader) throws {
        state = try row.choice()
        messages = try row.int64()
        excluded = try row.int64()
        rendered = try row.int64()
        smallest = try row.int32OrNil()
        largest = try row.int32OrNil()
        refused = try row.int64()
        variants = try row.text()
        samples = try row.text()
        remadeBecause = try row.text()
        seconds = try row.doubleOrNil()
        endsAt = try row.timeOrNil()
        limitedBy = try row.textOrNil()
        bound = try row.textOrNil().map { try JSONBody.decode(SendingBound.self, from: $0.utf8) }
        requestedAt = try row.time()
        finishedAt = try row.timeOrNil()
        isFinished = try row.bool()
        validUntil = try row.timeOrNil()
    }
}

extension DeliveryAnalysisRow {
    /// Whether its messages were dropped, or made again, because they would be too old at the start. `analysis_fault`
    /// says so.
    package var wasTooOld: Bool { remadeBecause.hasPrefix("it would be ") }

    /// The sizes of payloads by variant; empty if the delivery is no experiment.
    package var sizesByVariant: [AnalysisFindings.Sizes] {
        (try? JSONBody.decode([AnalysisFindings.Sizes].self, from: variants.utf8)) ?? []
    }
}

extension Store {
    private static let analysisColumns = """
        a.state, a.messages, a.excluded, a.rendered, a.smallest, a.largest, a.refused, a.variants::text,
        a.samples::text, a.remade_because, a.seconds, a.ends_at, a.limited_by, a.bound::text, a.requested_at, a.finished_at,
        a.finished_at IS NOT NULL AND a.frozen_until IS NOT NULL,
        CASE WHEN a.finished_at IS NOT NULL AND a.state IN ('ready', 'pending') THEN a.frozen_until END
        """

    /// What the last analysis of a delivery found, for a signed-in user; nil if it was never analysed.
    ///
    /// Only users who may see people get samples, and that is logged.
    package func analysis(ofDelivery id: Int64, by actor: ConsoleActor) async throws -> DeliveryAnalysisRow? {
        try await query(
            "SELECT \(Self.analysisColumns) FROM pushmta_engine.console_analysis(\(ConsoleActor.caller), $5) a",
            actor.values + [.int64(id)]
        ).oneOrNil(DeliveryAnalysisRow.init)
    }

    /// What the last analysis of a delivery found.
    ///
    /// Throws ``StoreError`` of code `notFound` if it was never analysed.
    package func analysis(ofDelivery id: Int64) async throws -> DeliveryAnalysisRow {
        let result = try await query(
            "SELECT \(Self.analysisColumns) FROM pushmta_engine.api_analysis($1) a",
            [.int64(id)]
        )
        return try first(
            result,
            orThrow: "Delivery \(id) was never analysed.",
            hint: "pushmta delivery analyze \(id)",
            DeliveryAnalysisRow.init
        )
    }

    /// How many messages the last analysis counted of those deliveries whose messages are made again before their start,
    /// by id.
    package func lastCounts(of rows: [DeliveryProgress]) async throws -> [Int64: Int64] {
        let ids = rows.filter { $0.state == .pending && !$0.prepared }.map(\.id)
        guard !ids.isEmpty else { return [:] }
        let result = try await query(
            "SELECT c.delivery_id, c.messages FROM pushmta_engine.last_counts($1) c",
            [.int64Array(ids)]
        )
        let counts = try all(result) { row in (id: try row.int64(), messages: try row.int64()) }
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.id, $0.messages) })
    }

    /// When the last message of a delivery leaves, at the earliest; nil if neither a limit nor a plan decides that, or
    /// once it has ended.
    package func sendingEnd(ofDelivery id: Int64) async throws -> DatabaseTime? {
        try await query("SELECT f.ends_at FROM pushmta_engine.sending_forecast($1) f", [.int64(id)])
            .one { try $0.timeOrNil() }
    }

    /// The messages of an analysed delivery by application, locale, time zone, wave and variant, the most first.
    package func counts(ofDelivery id: Int64, limit: Int32 = 1_000) async throws -> [DeliveryCountRow] {
        let result = try await query(
            """
            SELECT c.application, c.locale, c.time_zone, c.wave, c.variant, c.messages
            FROM pushmta_engine.api_analysis_counts($1, $2::integer) c
            """,
            [.int64(id), .int32(limit)]
        )
        return try all(result, DeliveryCountRow.init)
    }

    /// Why a delivery could not be prepared.
    package func problems(ofDelivery id: Int64) async throws -> [DeliveryProblem] {
        let result = try await query(
            """
            SELECT p.subject, coalesce(p.pointer, ''), p.problem, p.remedy FROM pushmta_engine.api_problems($1) p
            """,
            [.int64(id)]
        )
        return try all(result) { row in
            DeliveryProblem(
                subject: try row.text(),
                pointer: try row.text(),
                problem: try row.text(),
                remedy: try row.text()
            )
        }
    }
}
