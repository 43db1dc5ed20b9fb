import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Release of parts that are locked", .timeLimit(.minutes(1)))
struct LockedReleaseTests {
    @Test(
        "A caller that does not wait is told at once, whatever is locked, and changes nothing",
        arguments: [
            "SELECT 1 FROM pushmta_engine.delivery WHERE id = %d FOR UPDATE",
            "SELECT 1 FROM pushmta_engine.delivery_part WHERE delivery_id = %d FOR UPDATE",
            "SELECT pushmta.pause_delivery(%d)",
        ]
    )
    func locked(script: String) async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart()
        let token = PartToken(part: part.id, token: 1)
        let words = script.split(separator: "%d", omittingEmptySubsequences: false)
        let holder = try await fixture.hold(words.joined(separator: String(part.deliveryID)))
        #expect(try await fixture.other.releasePart(token, ambiguousThroughMark: true, waits: false) == false)
        #expect(try await fixture.parts(part.deliveryID, "claimed") == 1)
        try await holder.run(script: "ROLLBACK")
        #expect(try await fixture.other.releasePart(token, ambiguousThroughMark: true, waits: false))
        #expect(try await fixture.parts(part.deliveryID, "claimed") == 0)
        await holder.close()
    }
}
