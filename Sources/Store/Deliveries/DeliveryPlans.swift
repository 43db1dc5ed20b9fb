import PostgresClient
import PushCore

extension Store {
    /// Decides experiments, begins the waves whose time has come, and lets planned messages go that are due, within the sending hours of
    /// their services. Any number of hosts may call it at once; it never waits.
    ///
    /// - Parameters:
    ///   - enough: the number of ready parts of an application and account beside which no more are made ready.
    ///   - limit: the maximum number of parts; call again at once if as many were changed.
    /// - Returns: the number of changed parts.
    package func advancePlans(enough: Int, limit: Int) async throws -> Int {
        let limit = PostgresValue.int32(Int32(clamping: limit))
        // What fails must not keep due messages back.
        let results = [
            await attempt { try await $0.advanceExperiments() },
            await attempt { try await $0.advanceWaves() },
            await attempt { _ = try await $0.query("SELECT pushmta_engine.close_hours($1)", [limit]) },
        ]
        let released = try await query(
            "SELECT pushmta_engine.release_planned($1, $2)",
            [.int32(Int32(clamping: enough)), limit]
        ).one { Int(try $0.int32()) }
        for result in results { try result.get() }
        return released
    }

    private func attempt(_ step: (Store) async throws -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await step(self))
        } catch {
            return .failure(error)
        }
    }

    /// Each in a transaction of its own, so that none holds up another one's delivery.
    private func advanceExperiments() async throws {
        for _ in 0..<Self.experimentsAtOnce {
            guard try await query("SELECT pushmta_engine.advance_experiment()").one({ try $0.bool() }) else { break }
        }
    }

    private func advanceWaves() async throws {
        for _ in 0..<Self.waveLooks {
            let looked = try await query(
                "SELECT pushmta_engine.advance_waves(most => $1)",
                [.int32(Self.wavesAtOnce)]
            ).one { try $0.int32() }
            guard looked >= Self.wavesAtOnce else { break }
        }
    }

    /// The maximum number of experiments that are looked at in one second.
    private static let experimentsAtOnce = 10
    /// The maximum number of deliveries whose waves are looked at in one transaction, which holds them until its end.
    private static let wavesAtOnce: Int32 = 100
    /// The maximum number of such transactions in one second.
    private static let waveLooks = 10

    /// Replaces the plan of a delivery that has sent nothing; an empty one removes it. An analysis is dropped.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it has begun, or `invalid` for a plan that it cannot have.
    package func setPlan(ofDelivery id: Int64, _ plan: DeliveryPlan) async throws {
        try await change("pushmta.set_plan($1, $2::text::jsonb)", [.int64(id), .text(plan.json.compactText)])
    }

    /// The plan of a delivery; nil if it has none.
    package func plan(ofDelivery id: Int64) async throws -> DeliveryPlanRow? {
        let results = try await group([
            PostgresStatement("SELECT \(DeliveryPlanRow.columns) FROM pushmta_engine.api_plan($1) p", [.int64(id)]),
            PostgresStatement("SELECT \(DeliveryWaveRow.columns) FROM pushmta_engine.api_waves($1) w", [.int64(id)]),
        ])
        guard var row = try results[0].oneOrNil(DeliveryPlanRow.init) else { return nil }
        row.waves = try all(results[1], DeliveryWaveRow.init)
        return row
    }
}
