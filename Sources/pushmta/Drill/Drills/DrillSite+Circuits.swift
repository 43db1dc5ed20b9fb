import PushCore
import Store

extension DrillSite {
    /// The time between two looks at a circuit.
    private static let lookInterval = Duration.milliseconds(100)

    /// Revokes the keys of both gateways, or takes that back.
    func setRevoked(_ isRevoked: Bool) async throws {
        for gateway in GatewayPlan.both {
            try await control?.post("/credentials", "{\"gateway\":\"\(gateway)\",\"revoked\":\(isRevoked)}")
        }
    }

    /// Waits until a share of a delivery's messages is sent.
    func untilSent(_ delivery: DrillDelivery, share: Double) async throws {
        let wanted = Int64(Double(delivery.messages) * share)
        try await until("\(wanted) sent messages", within: Self.patience, every: Self.lookInterval) {
            try await progress(delivery).sent >= wanted
        }
    }

    /// Waits until the circuits of all these applications are closed, or until none is.
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

    /// Waits until so many probes of each application have failed.
    func untilProbes(of applications: [String], _ count: Int) async throws {
        let limit = Duration.seconds(20 * (1 << count))
        try await until("\(count) probes of \(applications)", within: limit, every: Self.lookInterval) {
            try await circuits(of: applications).allSatisfy { health in
                guard let health else { return false }
                return health.probes >= count && health.state == .open
            }
        }
    }

    /// Expects that every subscriber can still be reached: nothing disabled a token, and a further delivery goes to all.
    func expectNoTokenLost(_ audience: [String], _ delivery: DrillDelivery) async throws {
        let applied = try await store().tokenEventCounts(delivery: delivery.id).reduce(0) { $0 + $1.applied }
        expect(applied == 0, "\(applied) subscriptions were disabled by what the gateways said")
        let further = try await deliver(to: audience)
        try await untilOver(further)
        let progress = try await progress(further)
        expect(
            progress.target == delivery.messages && progress.sent == delivery.messages,
            "a further delivery has \(progress.target) messages, \(progress.sent) sent; it was to reach \(delivery.messages)"
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
