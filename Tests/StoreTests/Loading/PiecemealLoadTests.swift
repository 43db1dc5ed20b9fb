import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// People, with a view that divides by a number of each person.
@Suite("Parts in which some people cannot be read")
struct PiecemealLoadTests {
    private struct World {
        let fixture: StoreFixture
        let part: ClaimedPart
        let fields: MessageFields

        /// - Parameter bad: the subscriptions whose people have a zero.
        static func make(messages: Int64, bad: [Int64], excludes: Int64? = nil) async throws -> World {
            let fixture = try await StoreFixture.make()
            try await fixture.store.seedSubscriptions(application: "shop-ios", count: messages)
            try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'user-' || id, locale = 'fr'")
            try await fixture.sql("CREATE TABLE numbers (key text PRIMARY KEY, n integer)")
            try await fixture.sql("INSERT INTO numbers SELECT 'user-' || g, g FROM generate_series(1, \(messages)) g")
            let zeros = bad.map { "'user-\($0)'" }.joined(separator: ", ")
            if !bad.isEmpty { try await fixture.sql("UPDATE numbers SET n = 0 WHERE key IN (\(zeros))") }
            try await fixture.sql("CREATE VIEW person AS SELECT key, 1000 / n AS share FROM numbers")
            try await fixture.store.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
            try await fixture.store.setService(name: "shop", mapping: "m")
            if let excludes {
                try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = \(excludes)")
            }
            _ = try await fixture.startedDelivery()
            try await fixture.prepare()
            let part = try required(try await fixture.claim().first)
            let fields = try await fixture.store.resolve(
                MessageFields(names: ["mapping.share"], withLocale: true),
                application: try await fixture.store.application(named: "shop-ios")
            )
            return World(fixture: fixture, part: part, fields: fields)
        }
    }

    @Test("The others are loaded as usual, in their places", arguments: [[37], [1], [60], [1, 2, 3, 31, 59, 60]])
    func alone(_ bad: [Int64]) async throws {
        let world = try await World.make(messages: 60, bad: bad)
        let plain = try await world.fixture.store.loadPart(world.part, fieldNames: [])
        let loaded = try await world.fixture.store.loadReadable(world.part, world.fields)
        #expect(loaded.subscriptionIDs == plain.subscriptionIDs && loaded.sequences == plain.sequences)
        #expect(
            (0..<60).allSatisfy { loaded.tokens.string($0) == plain.tokens.string($0) }
                && loaded.decisions == plain.decisions
        )
        #expect(loaded.fields.map(\.count) == [60] && loaded.locales.count == 60)
        for (row, id) in loaded.subscriptionIDs.enumerated() {
            #expect(loaded.fields[0].isNull(row) == bad.contains(id))
            if !bad.contains(id) {
                #expect(loaded.fields[0].string(row) == "\(1_000 / id)" && loaded.locales.string(row) == "fr")
            }
        }
        #expect(Set(loaded.unreadable.keys.map { loaded.subscriptionIDs[$0] }) == Set(bad))
        for reason in loaded.unreadable.values {
            #expect(reason.hasPrefix("FieldsUnreadable: ") && reason.hasSuffix("division by zero (SQLSTATE 22012)"))
        }
    }

    @Test("A person who gets no message anyway keeps that reason, and a person outside the part affects no one")
    func excluded() async throws {
        // In the range of a dense part, but not in the part.
        let outside = try await World.make(messages: 50, bad: [20], excludes: 20)
        #expect(outside.part.isDense && outside.part.size == 49)
        let loaded = try await outside.fixture.store.loadReadable(outside.part, outside.fields)
        #expect(loaded.count == 49 && loaded.unreadable.isEmpty && loaded.fields[0].count == 49)
        let inside = try await World.make(messages: 50, bad: [20])
        try await inside.fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = 20")
        let later = try await inside.fixture.store.loadReadable(inside.part, inside.fields)
        #expect(later.decisions[19] == .optedOut && later.decisions.count(where: \.isSendable) == 49)
    }

    @Test("If more than ten people and more than a tenth fail, it is the view's fault, and no message fails")
    func tooMany() async throws {
        let world = try await World.make(messages: 3_200, bad: Array(1...21))
        #expect(world.part.size == 200, "a small delivery is cut into sixteen parts")
        await #expect {
            try await world.fixture.store.loadReadable(world.part, world.fields)
        } throws: { error in
            let problem = error as? LoadProblem
            return problem?.scope == .part && problem?.text.contains("more than 20 of the 200") == true
        }
        let small = try await World.make(messages: 12, bad: Array(1...10))
        #expect(try await small.fixture.store.loadReadable(small.part, small.fields).unreadable.count == 10)
    }

    @Test("A missing column, view or right does not depend on people's data, so the part is not loaded piecemeal")
    func missing() async throws {
        let world = try await World.make(messages: 50, bad: [7])
        try await world.fixture.sql("ALTER VIEW person RENAME COLUMN share TO portion")
        await #expect {
            try await world.fixture.store.loadReadable(world.part, world.fields)
        } throws: { LoadProblem($0).scope == .delivery && LoadProblem($0).text.contains("42703") }
        // If the mapping is resolved again, the error is ours.
        let application = try await world.fixture.store.application(named: "shop-ios")
        await #expect {
            try await world.fixture.store.resolve(MessageFields(names: ["mapping.share"]), application: application)
        } throws: { ($0 as? StoreError)?.code == .unavailable && LoadProblem($0).text.contains("no column \"share\"") }
    }
}
