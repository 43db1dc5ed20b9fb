import PostgresClient
import PushCore

/// Whether a child may continue with the parts it holds.
package struct SendingState: Sendable, Hashable {
    /// The requested deliveries with their states, without those that do not exist.
    package var deliveries: [Int64: DeliveryState]
    package var circuit: CircuitState

    /// The state of the application's gateway on the account; nil if it takes messages.
    package var trouble: GatewayTroubleState?

    /// Whether only probes are sent. This also holds for the prober, which checks `circuit`.
    package var isCircuitOpen: Bool { circuit != .closed }

    /// The state of some deliveries and of an application's circuit.
    package init(deliveries: [Int64: DeliveryState], circuit: CircuitState, trouble: GatewayTroubleState? = nil) {
        self.trouble = trouble
        self.deliveries = deliveries
        self.circuit = circuit
    }
}

extension Store {
    /// Pauses a delivery: nothing new is sent, and messages on their way are resolved and recorded. A paused one stays
    /// paused.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `conflict` if it was not started or has ended.
    package func pauseDelivery(_ id: Int64) async throws {
        _ = try await control("pushmta.pause_delivery($1)", [.int64(id)])
    }

    /// Resumes a paused delivery where it was; one that is not paused stays as it is.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `conflict` if it was not started or has ended.
    package func resumeDelivery(_ id: Int64) async throws {
        _ = try await control("pushmta.resume_delivery($1)", [.int64(id)])
    }

    /// Stops a delivery permanently, in any state before its end: nothing new is sent, messages on their way are
    /// resolved and recorded, and the rest is canceled without a row for each message.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `conflict` if it has finished.
    package func stopDelivery(_ id: Int64) async throws {
        _ = try await control("pushmta.stop_delivery($1)", [.int64(id)])
    }

    /// Returns a delivery that cannot be prepared to editing, with each problem on a line; pauses it if some of its
    /// parts were created. One that was paused or ended meanwhile stays as it is. Returns the resulting state.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    ///
    /// - Parameter preparation: the number of the preparation that failed; one that was changed since stays as it is.
    package func returnDelivery(_ id: Int64, reason: String, preparation: Int32? = nil) async throws -> DeliveryState {
        let result = try await control(
            "pushmta_engine.return_delivery($1, $2, $3)",
            [.int64(id), .text(reason), preparation.map(PostgresValue.int32) ?? .null]
        )
        return try first(result, orThrow: "There is no delivery \(id).") { row in try row.choice() }
    }

    /// Pauses a delivery because of a problem of this delivery alone, found by a gateway or while loading, and shows
    /// the operator why; a continuous one as a whole. One that is already paused or has ended stays as it is.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func holdDelivery(_ id: Int64, reason: String) async throws {
        _ = try await control("pushmta_engine.hold_delivery($1, $2)", [.int64(id), .text(reason)])
    }

    /// A program of an older version locks a part before its delivery, so PostgreSQL may have to resolve a deadlock;
    /// then the call is repeated.
    private func control(_ call: String, _ parameters: [PostgresValue], attempts: Int = 4) async throws
        -> PostgresResult
    {
        do {
            return try await change(call, parameters)
        } catch let error as PostgresError where error.sqlState == "40P01" && attempts > 1 {
            return try await control(call, parameters, attempts: attempts - 1)
        }
    }

    /// The states of the deliveries whose parts a child holds, of its application's circuit and of the account's
    /// gateway; one round trip.
    package func sendingState(application: Int32, account: Int32, deliveries: [Int64]) async throws -> SendingState {
        let result = try await query(
            Self.sendingStateSQL,
            [.int32(application), .int64Array(deliveries), .int32(account)]
        )
        var state = SendingState(deliveries: [:], circuit: .closed)
        try result.each { row in
            let delivery = try row.ifPresent(2) { row in
                (id: try row.int64(), state: try row.choice() as DeliveryState)
            }
            if let delivery { state.deliveries[delivery.id] = delivery.state }
            if let circuit = try row.ifPresent(1, Self.circuitState) { state.circuit = circuit }
            if let trouble = try row.ifPresent(2, Self.gatewayTrouble) { state.trouble = trouble }
        }
        return state
    }

    private static func circuitState(_ row: inout RowReader) throws -> CircuitState { try row.choice() }

    private static func gatewayTrouble(_ row: inout RowReader) throws -> GatewayTroubleState {
        let (milliseconds, sharers) = (try row.int64(), Int(try row.int64()))
        return milliseconds < 0 ? .trouble : .opening(since: .milliseconds(milliseconds), sharers: sharers)
    }

    static let sendingStateSQL = """
        SELECT d.id, d.state, NULL::text, NULL::bigint, NULL::bigint FROM pushmta_engine.delivery d WHERE d.id = ANY($2)
        UNION ALL
        SELECT NULL, NULL, h.state, NULL, NULL FROM pushmta_engine.application_health h
        WHERE h.application_id = $1 AND \(CircuitSQL.isOpen)
        UNION ALL
        SELECT NULL, NULL, NULL, CASE WHEN \(TroubleSQL.isTrouble) THEN -1
                ELSE greatest(0, extract(epoch FROM clock_timestamp() - t.opened_at) * 1000)::bigint END,
            (SELECT count(*) FROM pushmta_engine.mta_child c WHERE c.application_id = $1 AND c.external_account_id = $3
                AND c.exited_at IS NULL AND c.last_heartbeat > now() - interval '5 seconds')
        FROM pushmta_engine.gateway_trouble t
        WHERE t.application_id = $1 AND t.external_account_id = $3
            AND (\(TroubleSQL.isTrouble) OR t.opened_at BETWEEN now() - interval '\(OpeningRamp.length.components.seconds) seconds'
                AND now() + interval '1 second')
        """
}
