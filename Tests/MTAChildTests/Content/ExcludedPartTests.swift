import Gateways
import PushCore
import TestSupport
import Testing

@testable import MTAChild
@testable import Store

/// Messages that lack a value, in parts with a past, and fields without any value.
@Suite struct ExcludedPartTests {
    private static let content =
        #"{"missing": "exclude", "ios": {"title": "{{firstName}}"}, "android": {"title": "x"}}"#

    @Test func whatMayHaveArrivedAndLacksAValueNowIsUnknown() async throws {
        let world = try await ContentWorld.make(content: Self.content, perPlatform: 16)
        let application = try await world.store.application(named: "ios")
        let account = try #require(application.accountID)
        let claimed = try await world.store.claimParts(
            application: application.id,
            account: account,
            child: 1,
            limit: 1
        )
        let first = try #require(claimed.first)
        let sequences = try await world.store.loadPart(first, fieldNames: []).sequences
        // Two of these have no name, and a lost owner may have sent one of the two.
        let recovery = PartRecovery(ambiguous: [sequences[0], sequences[10]])
        #expect(try await world.store.releasePart(PartToken(part: first.id, token: 1), recovery: recovery))
        let parts = try await world.prepare(.ios)
        let part = try #require(parts.first)
        let decided = part.decided.sorted { $0.row < $1.row }
        #expect(decided.map(\.row) == [10, 11])
        #expect(decided.map(\.status) == [.unknown, .notApplicable])
        #expect(
            decided[0].reason.hasSuffix("missing_value: firstName") && decided[1].reason == "missing_value: firstName"
        )
        #expect(part.lost == [0] && part.resent == 1 && part.sendable == 14)
    }

    @Test func columnsOfTheMappingAreLookedUp() async throws {
        let world = try await ContentWorld.make(
            content: #"{"ios": {"title": "{{mapping.city|nowhere}}"}, "android": {"title": "x"}}"#,
            perPlatform: 6
        )
        let parts = try await world.prepare(.ios)
        let part = try #require(parts.first)
        let bodies = try #require(part.slices.first).batch.bodies
        #expect((0..<6).map { bodies.string($0).contains("nowhere") } == [false, false, false, false, true, false])
        #expect(bodies.string(3).contains(#""title":"Lyon""#))
    }

    @Test func aColumnThatTheMappingLacksHoldsTheDeliveryUp() async throws {
        let world = try await ContentWorld.make(
            content: #"{"ios": {"title": "{{mapping.ctiy}}"}, "android": {"title": "x"}}"#,
            perPlatform: 1
        )
        await #expect { try await world.prepare(.ios) } throws: {
            ($0 as? StoreError)?.code == .unavailable && "\($0)".contains("ctiy")
        }
    }
}
