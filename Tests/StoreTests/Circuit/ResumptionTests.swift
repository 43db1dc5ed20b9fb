import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("An application that an operator resumes")
struct ResumptionTests {
    private let column = "column m.city does not exist (SQLSTATE 42703)"

    @Test("Parts that could not be loaded are tried again at once, and are reported")
    func parts() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 10)
        let store = fixture.store
        try await store.releasePart(PartToken(part: part.id, token: 1), problem: column)
        #expect(try await fixture.claim().isEmpty)
        let ended = try await store.resumeApplication(named: "shop-ios")
        #expect(ended.parts == 1 && ended.loadProblem == column)
        #expect(!ended.wasOpen && ended.hosts.isEmpty && ended.preparations.isEmpty && ended.troubledChildren == 0)
        #expect(try await fixture.claim().map(\.id) == [part.id])
        #expect(try await !store.resumeApplication(named: "shop-ios").hasEnded)
    }

    @Test("A part that waits for its messages' retry schedule keeps waiting")
    func retries() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET not_before = now() + interval '1 hour'")
        #expect(try await !fixture.store.resumeApplication(named: "shop-ios").hasEnded)
        #expect(try await fixture.claim().isEmpty)
    }

    @Test("A postponed preparation is tried again at once")
    func preparations() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.startedDelivery()
        try await fixture.store.postponePreparation(id, reason: column)
        #expect(try await fixture.store.resumeApplication(named: "shop-ios").preparations == [id])
        #expect(try await !fixture.store.resumeApplication(named: "shop-ios").hasEnded)
    }

    @Test("Hosts whose last child died before its first message are named, and only they")
    func hosts() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        let store = fixture.store
        let first = try await fixture.child()
        #expect(try await store.resumeApplication(named: "shop-ios").hosts.isEmpty, "it runs")
        try await fixture.sql(
            """
            UPDATE pushmta_engine.mta_child SET exited_at = now(), exit_reason = 'settings',
                stderr_tail = E'starting\\nthe key file is missing\\n' WHERE id = \(first)
            """
        )
        let ended = try await store.resumeApplication(named: "shop-ios")
        #expect(ended.hosts.map(\.exitReason) == ["settings"])
        #expect(ended.hosts.map(\.stderrTail) == ["the key file is missing"])
        _ = try await fixture.child()
        #expect(try await store.resumeApplication(named: "shop-ios").hosts.isEmpty, "another one runs")
    }

    @Test("Each resumption is a new one, and all listeners are notified")
    func told() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 10, partSize: 10)
        let store = fixture.store
        #expect(try await store.resumptions().isEmpty)
        let listener = try await store.listen()
        try await store.resumeApplication(named: "shop-ios")
        guard case .resume? = try await listener.nextWakeUp(deadline: .now + .seconds(60)) else {
            Issue.record("nobody was told")
            return
        }
        let first = try await store.resumptions()
        #expect(first.keys.sorted() == [1])
        try await store.resumeApplication(named: "shop-ios")
        #expect(try await store.resumptions() != first)
        #expect(try await store.applicationHealth().map(\.state) == [.closed])
        await listener.close()
    }
}
