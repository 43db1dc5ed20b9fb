import PostgresClient
import PushCore

extension Store {
    /// Makes a delivery that has sent nothing an experiment, in place of what it was before. Its analysis is dropped.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if the delivery was started, or `invalid`.
    package func setExperiment(_ delivery: Int64, _ rule: ExperimentRule) async throws {
        try await change(
            "pushmta.set_experiment($1, \(ExperimentRule.arguments(from: 2)))",
            [.int64(delivery)] + rule.values
        )
    }

    /// Makes an experiment an ordinary delivery.
    package func removeExperiment(_ delivery: Int64) async throws {
        try await change("pushmta.set_experiment($1, NULL)", [.int64(delivery)])
    }

    /// Refuses a variant that a delivery does not have.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func requireVariant(_ variant: Int16, ofDelivery id: Int64) async throws {
        try await query(
            "SELECT pushmta_engine.require_variant($1, $2::integer)",
            [.int64(id), .int32(Int32(variant))]
        )
    }

    /// Ends the experiment of a delivery that has begun: its rest gets this variant.
    ///
    /// Throws ``StoreError`` of code `conflict` if it has no such variant, or a winner.
    package func chooseWinner(_ delivery: Int64, variant: Int32) async throws {
        try await change("pushmta.choose_winner($1, $2)", [.int64(delivery), .int32(variant)])
    }

    /// The same for a signed-in user who may start the delivery; it is logged in the same transaction.
    package func chooseWinner(_ delivery: Int64, variant: Int32, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_choose_winner(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.int64(delivery), .int32(variant)]
        )
    }

    /// Sends a variant to seed addresses, for a signed-in user who may start the delivery; it is logged in the same
    /// transaction.
    ///
    /// - Returns: the id of the proof, which is a delivery of its own.
    package func proveVariant(
        _ variant: Int32,
        ofDelivery id: Int64,
        to seeds: [String],
        by actor: ConsoleActor
    ) async throws -> Int64 {
        try await query(
            "SELECT pushmta_engine.console_prove_variant(\(ConsoleActor.caller), $5, $6, $7::text[])",
            actor.values + [.int64(id), .int32(variant), .textArray(seeds)]
        ).one { try $0.int64() }
    }

    /// The experiment of a delivery; nil if it is none.
    package func experiment(ofDelivery id: Int64) async throws -> ExperimentRow? {
        try await query(
            "SELECT \(ExperimentRow.columns) FROM pushmta_engine.api_experiment($1) e",
            [.int64(id)]
        ).oneOrNil(ExperimentRow.init)
    }

    /// The variants of a delivery's experiment with their results; the last one may be the rest.
    package func experimentVariants(ofDelivery id: Int64) async throws -> [ExperimentVariantRow] {
        let result = try await query(
            """
            SELECT v.variant, v.label, v.percent, v.messages, v.sent, v.received, v.clicked, v.converted, v.against_first, v.content
            FROM pushmta_engine.api_experiment_variants($1) v
            """,
            [.int64(id)]
        )
        return try all(result, ExperimentVariantRow.init)
    }

    /// Records that the recipient of a message did what it was sent for. The first of a name counts for each message.
    ///
    /// - Parameters:
    ///   - message: any id of the message.
    ///   - delivery: where to look; nil for everywhere.
    ///   - applications: only deliveries to no others exist; nil for all.
    /// - Returns: whether this one counts.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such message with an outcome, or `invalid`.
    package func recordConversion(
        message: String,
        name: String,
        value: Double? = nil,
        delivery: Int64? = nil,
        applications: [Int32]? = nil
    ) async throws -> Bool {
        try await change(
            "pushmta_engine.add_conversion($1, $2, $3::double precision::numeric, $4::bigint, $5::integer[])",
            [
                .text(message), .text(name), value.map { .double($0) } ?? .null, .int64OrNull(delivery),
                applications.map { .int32Array($0) } ?? .null,
            ]
        ).one { try $0.bool() }
    }
}
