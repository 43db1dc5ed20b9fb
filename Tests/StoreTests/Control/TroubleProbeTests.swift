import PushCore
import Store
import TestSupport
import Testing

/// The choice of the message that probes a gateway in trouble.
@Suite("The part for a probe of a gateway in trouble")
struct TroubleProbeTests {
    /// If only the answers are lost, no person must get a message with every probe.
    @Test("However many urgent messages may have arrived, one that never left is sent first")
    func neverSent() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 130, partSize: 1)
        let parts = "FROM pushmta_engine.delivery_part WHERE delivery_id = \(id)"
        let last = "id < (SELECT max(id) \(parts))"
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_part_recovery (part_id, fencing_token, ambiguous)
            SELECT id, fencing_token, '{1}' \(parts) AND \(last)
            """
        )
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part SET priority = 100, attempt = 2
            WHERE delivery_id = \(id) AND \(last)
            """
        )
        let row = try await fixture.store.application(named: "shop-ios")
        let account = try required(row.accountID)
        let child = try await fixture.child("shop-ios")
        var attempts: [Int16] = []
        for _ in 0..<3 {
            let part = try await fixture.store.claimTroubleProbe(application: row.id, account: account, child: child)
            attempts.append(try required(part).attempt)
        }
        #expect(attempts == [1, 2, 2], "then there is no other")
    }
}
