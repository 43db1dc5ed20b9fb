import PostgresClient
import Store
import Supervisor
import Testing

@Suite("Supervisors follow health signals")
struct SignalWatchTests {
    private static let rate = "SELECT round(current_rate) FROM pushmta.rate_limit WHERE scope = 'delivery'"
    private static let state = "SELECT state FROM pushmta.delivery_signal"

    /// A backend whose load a test sets, and a started delivery that follows it.
    private func site() async throws -> SupervisorSite {
        let site = try await SupervisorSite.make()
        try await site.connection.run(
            script: """
                CREATE SCHEMA backend;
                CREATE TABLE backend.figures (load double precision);
                INSERT INTO backend.figures VALUES (0.1);
                CREATE FUNCTION backend.load() RETURNS double precision LANGUAGE sql SECURITY DEFINER
                    AS 'SELECT load FROM backend.figures';
                GRANT USAGE ON SCHEMA backend TO pushmta_signal;
                """
        )
        var signal = HealthSignal(name: "load", kind: .sql, source: "backend.load()")
        signal.reactionSeconds = 1
        signal.staleAfterSeconds = 3
        try await site.store.setHealthSignal(signal)
        let id = try await site.startDelivery()
        try await site.store.followSignal(id, "load", target: 0.8, floor: 10, ceiling: 1_000)
        return site
    }

    /// What children do: they use the rate.
    private func use(_ site: SupervisorSite) async throws {
        try await site.connection.run(script: "UPDATE pushmta_engine.rate_limit SET granted = granted + 100000")
    }

    private func load(_ site: SupervisorSite, _ load: String) async throws {
        try await site.connection.run(script: "UPDATE backend.figures SET load = \(load)")
    }

    @Test("The rate rises while the signal is good, falls to the floor while it is not, and rises again")
    func follows() async throws {
        let site = try await site()
        try await site.running(site.supervisor()) {
            try await rises(site)
            try await load(site, "2")
            try await site.wait(for: "at_floor", from: Self.state)
            try await site.wait(for: "10", from: Self.rate)
            try await load(site, "0.1")
            try await rises(site)
        }
    }

    @Test("A signal without a value means the floor, and the reason is told")
    func stale() async throws {
        let site = try await site()
        try await site.running(site.supervisor()) {
            try await rises(site)
            try await load(site, "NULL")
            try await site.wait(for: "stale", from: Self.state)
            try await site.wait(for: "10", from: Self.rate)
            try await site.wait(
                for: "true",
                from: "SELECT error LIKE '%returned null%' FROM pushmta.health_signal WHERE name = 'load'"
            )
        }
    }

    private func rises(_ site: SupervisorSite) async throws {
        for _ in 0..<600 {
            try await use(site)
            if let rate = try await site.value(Self.rate).flatMap({ Double($0) }), rate > 20 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("the rate has not risen: \(try await site.value(Self.state) ?? "no state")")
    }
}
