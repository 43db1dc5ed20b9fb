import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// A permanently lost host is removed from the status tables, and nothing else is.
@Suite("Removing a host")
struct HostRemovalTests {
    private func silence(_ fixture: StoreFixture, _ host: String) async throws {
        try await fixture.sql(
            "UPDATE pushmta_engine.mta_host SET last_heartbeat = now() - interval '1 minute' WHERE id = '\(host)'"
        )
    }

    private func refusal(_ fixture: StoreFixture, _ host: String, journalsLost: Bool = false) async -> StoreError? {
        do {
            _ = try await fixture.store.removeHost(host, journalsLost: journalsLost)
            return nil
        } catch {
            return error as? StoreError
        }
    }

    private func add(_ fixture: StoreFixture, id: String, name: String) async throws {
        try await fixture.store.registerHost(
            HostReport(
                id: id,
                name: name,
                pid: 2,
                version: "1",
                schemaVersion: Store.schemaVersion,
                state: .running,
                journalFolder: "/var/lib/other"
            )
        )
    }

    @Test("It is refused while the host lives, holds parts, or may have a journal; each refusal says what to do")
    func refused() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 10)
        let alive = await refusal(fixture, "one")
        #expect(alive?.code == .conflict && alive?.description.contains("supervisor drain") == true)
        try await silence(fixture, fixture.host)
        #expect(try await fixture.alarms("host_gone").first?.remedy.contains("host remove \(fixture.host)") == true)
        let holds = await refusal(fixture, "one", journalsLost: true)
        #expect(holds?.sqlState == "PM083" && holds?.message.contains("1 parts") == true)
        // Another host's sweep has recovered the part; the child's journal may still have answers.
        let token = PartToken(part: part.id, token: part.fencingToken)
        #expect(try await fixture.store.releasePart(token, ambiguousThroughMark: true))
        let journal = await refusal(fixture, "one")
        #expect(journal?.sqlState == "PM084" && journal?.message.contains("/var/lib/pushmta") == true)
        #expect(journal?.hint?.contains("--journals-lost") == true)
        let removed = try await fixture.store.removeHost("one", journalsLost: true)
        #expect(removed.id == fixture.host && removed.name == "one" && removed.children == 1)
        #expect(try await fixture.store.hosts().isEmpty)
        #expect(try await fixture.store.children(includeExited: true).isEmpty)
        #expect(await refusal(fixture, "one")?.code == .notFound)
        // Its messages are unchanged.
        #expect(try await fixture.store.deliveryProgress(part.deliveryID).pending == 10)
    }

    @Test("A child with a recorded end does not prevent it, and a supervisor that returns is a host again")
    func ended() async throws {
        let fixture = try await StoreFixture.make()
        let child = try await fixture.child()
        try await fixture.store.childExited(child, reason: "drained")
        try await silence(fixture, fixture.host)
        #expect(try await fixture.store.removeHost(fixture.host.uppercased()).children == 1)
        try await add(fixture, id: fixture.host, name: "one")
        #expect(try await fixture.store.hosts().map(\.health) == ["alive"])
    }

    @Test("Of two hosts with one name the gone one is removed; if both are gone, neither is")
    func names() async throws {
        let fixture = try await StoreFixture.make()
        let second = "7f9619ff-8b86-4011-b42d-00cf4fc964ff"
        let third = "8f9619ff-8b86-4011-b42d-00cf4fc964ff"
        try await add(fixture, id: second, name: "one")
        try await add(fixture, id: third, name: "one")
        #expect(await refusal(fixture, "one")?.code == .invalid)
        try await silence(fixture, second)
        try await silence(fixture, third)
        let error = await refusal(fixture, "one")
        #expect(
            error?.code == .invalid && error?.message.contains(second) == true && error?.hint?.contains("id") == true
        )
        _ = try await fixture.store.removeHost(third)
        #expect(try await fixture.store.removeHost("one").id == second)
        #expect(try await fixture.store.hosts().map(\.report.id) == [fixture.host])
    }

    @Test("Neither monitoring nor marketing systems may remove one")
    func rights() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        for role in ["pushmta_monitoring", "pushmta_marketing", "pushmta_web"] {
            try await connection.run(script: "SET ROLE \(role)")
            await #expect(throws: PostgresError.self, "\(role)") {
                try await connection.execute(PostgresStatement("SELECT pushmta.remove_host('one')", prepare: false))
            }
        }
        await connection.close()
    }
}
