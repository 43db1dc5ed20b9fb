import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store

extension DrillSite {
    /// Starts the cluster, the simulator and a host with two children. The gateways answer after 50 ms and have their
    /// own stream limits.
    ///
    /// - Parameter adjust: Changes the settings of the host.
    /// - Returns: The applications, in the order of the platforms.
    func openGateways(
        to platforms: [Platform],
        _ adjust: @escaping @Sendable (inout Settings) -> Void = { _ in }
    ) async throws -> [String] {
        try await startCluster()
        try await startSimulator()
        try await setPlans(.calm)
        let host = try addHost("host", DrillHostSetup(children: 2, adjust: adjust))
        try await host.start()
        return try await audience(platforms)
    }

    /// Sets one gateway's faults, from now on.
    func setPlan(_ plan: GatewayPlan, _ gateway: String) async throws {
        guard let control else { throw DrillFailure("the gateways have no control port") }
        // Each gateway gets its own seed; otherwise both would refuse the same messages, counted by their number.
        let dice = gateway == GatewayPlan.both.first ? seed : ~seed
        try await control.post("/faults", plan.json(gateway: gateway, seed: dice))
    }

    /// Sets the same faults for both gateways.
    func setPlans(_ plan: GatewayPlan) async throws {
        for gateway in GatewayPlan.both { try await setPlan(plan, gateway) }
    }

    /// The gateways' counters.
    func gatewayCounts() async throws -> GatewayCounts {
        guard let control else { throw DrillFailure("the gateways have no control port") }
        return try JSONBody.decode(GatewayCounts.self, from: try await control.get("/counters"))
    }

    /// Every push that reached the gateways, in the order of the record.
    func arrivals() throws -> [GatewayRecordLine] {
        var lines: [GatewayRecordLine] = []
        try GatewayRecord.read(recordFile) { lines.append($0) }
        return lines
    }

    /// Waits until each gateway alone has as many open requests as a fault needs. Meanwhile the load is kept up.
    func untilBothGatewaysAreBusy() async throws {
        try await until("requests at both gateways", within: Self.timeout, every: .milliseconds(50)) {
            try await refill()
            return try await gatewayCounts().byName.allSatisfy { $0.counts.waiting >= DrillFault.minStreams }
        }
    }

    /// Counts the faults that the gateways injected on their own while enough requests were open.
    func noteGatewayFaults(_ what: String) async throws -> GatewayCounts {
        let counts = try await gatewayCounts()
        noteFaults(what, number: Int(counts.faultsUnderLoad), streams: counts.leastWaitingAtFault)
        return counts
    }

    /// Expects that each message of the deliveries was sent, with a number of attempts within the range.
    func expectAllSent(_ deliveries: [DrillDelivery], attempts: ClosedRange<Int16>) async throws {
        for delivery in deliveries {
            let progress = try await progress(delivery)
            expect(
                progress.sent == delivery.messages && progress.target == delivery.messages,
                "delivery \(delivery.id): \(progress.sent) of \(delivery.messages) sent, \(progress.failed) failed, "
                    + "\(progress.unknown) unknown, \(progress.ignored) ignored, \(progress.pending) pending"
            )
            let wrong = try await store().outcomeRows(delivery: delivery.id).filter { !attempts.contains($0.attempt) }
            expect(
                wrong.isEmpty,
                "delivery \(delivery.id): \(wrong.count) messages did not take \(attempts) attempts; the first is "
                    + "number "
                    + "\(wrong.first?.sequence ?? 0): \(wrong.first?.attempt ?? 0)"
            )
        }
    }

    /// Whether the delivery with policy `report` has unknown messages, and another one has resent ambiguous messages.
    func hasAmbiguityOfBothPolicies(_ reported: DrillDelivery) async throws -> Bool {
        var isReported = false
        var isResent = false
        for delivery in deliveries {
            let progress = try await progress(delivery)
            if delivery == reported {
                isReported = progress.unknown > 0
            } else {
                isResent = isResent || progress.resentAfterAmbiguity > 0
            }
        }
        return isReported && isResent
    }

    /// Expects that nothing failed. The delivery with policy `report` must have unknown messages and no resent ones;
    /// the others must have resent their ambiguous messages.
    func expectAmbiguityByPolicy(_ reported: DrillDelivery) async throws {
        var resent: Int64 = 0
        for delivery in deliveries {
            let progress = try await progress(delivery)
            expect(progress.failed == 0, "delivery \(delivery.id): \(progress.failed) messages failed")
            if delivery == reported {
                expect(progress.unknown > 0, "no message of delivery \(delivery.id), policy report, is unknown")
                expect(progress.resentAfterAmbiguity == 0, "delivery \(delivery.id), policy report, resent messages")
            } else {
                expect(progress.unknown == 0, "delivery \(delivery.id): \(progress.unknown) messages are unknown")
                expect(
                    progress.sent == progress.target,
                    "delivery \(delivery.id): \(progress.sent) of \(progress.target) sent"
                )
                resent += progress.resentAfterAmbiguity
            }
        }
        expect(resent > 0, "no ambiguous message was sent again")
    }
}

extension DrillSite {
    /// The interval between checks of a circuit.
    private static let lookInterval = Duration.milliseconds(100)

    /// Revokes the keys at both gateways, or accepts them again.
    func setRevoked(_ isRevoked: Bool) async throws {
        for gateway in GatewayPlan.both {
            try await control?.post("/credentials", "{\"gateway\":\"\(gateway)\",\"revoked\":\(isRevoked)}")
        }
    }

    /// Waits until a share of a delivery's messages is sent.
    func untilSent(_ delivery: DrillDelivery, share: Double) async throws {
        let wanted = Int64(Double(delivery.messages) * share)
        try await until("\(wanted) sent messages", within: Self.timeout, every: Self.lookInterval) {
            try await progress(delivery).sent >= wanted
        }
    }

    /// Waits until the circuits of all these applications are in the wanted state.
    func untilCircuits(of applications: [String], _ wanted: CircuitState, within limit: Duration) async throws {
        try await until("\(wanted.rawValue) circuits of \(applications)", within: limit, every: Self.lookInterval) {
            try await circuits(of: applications).allSatisfy { ($0?.state ?? .closed == .closed) == (wanted == .closed) }
        }
        for health in try await circuits(of: applications) {
            guard let health else { continue }
            note("application \(health.applicationID): circuit \(health.state.rawValue), \(health.reason)")
            let isExplained = wanted == .closed || (!health.reason.isEmpty && !health.remedy.isEmpty)
            expect(isExplained, "the open circuit of application \(health.applicationID) has no reason or no remedy")
        }
    }

    /// Waits until at least this many probes of each application have failed.
    func untilProbes(of applications: [String], _ count: Int) async throws {
        let limit = Duration.seconds(20 * (1 << count))
        try await until("\(count) probes of \(applications)", within: limit, every: Self.lookInterval) {
            try await circuits(of: applications).allSatisfy { health in
                guard let health else { return false }
                return health.probes >= count && health.state == .open
            }
        }
    }

    /// Expects that no token was disabled, and that another delivery reaches every subscriber.
    func expectNoTokenLost(_ audience: [String], _ delivery: DrillDelivery) async throws {
        let applied = try await store().tokenEventCounts(delivery: delivery.id).reduce(0) { $0 + $1.applied }
        expect(applied == 0, "\(applied) subscriptions were disabled by the gateways' answers")
        let further = try await deliver(to: audience)
        try await untilOver(further)
        let progress = try await progress(further)
        expect(
            progress.target == delivery.messages && progress.sent == delivery.messages,
            "another delivery has \(progress.target) messages, \(progress.sent) sent; expected \(delivery.messages)"
        )
    }

    private func circuits(of applications: [String]) async throws -> [ApplicationHealthRow?] {
        let store = try store()
        let rows = try await store.applicationHealth()
        var found: [ApplicationHealthRow?] = []
        for name in applications {
            let id = try await store.application(named: name).id
            found.append(rows.first { $0.applicationID == id })
        }
        return found
    }
}
