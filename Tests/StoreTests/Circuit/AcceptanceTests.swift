import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Push tokens that have worked, and parts that are set aside")
struct AcceptanceTests {
    private func sent(_ part: ClaimedPart, _ loaded: LoadedPart, rows: Range<Int>) -> OutcomeBatch {
        var batch = OutcomeBatch()
        for row in rows {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .sent,
                httpStatus: 200,
                firstOf: loaded.accepted.isEmpty || !loaded.accepted[row] ? 1 : nil
            )
        }
        return batch
    }

    @Test("The first acceptance is noted, comes with the next load, and is never written again")
    func first() async throws {
        // The ids of the second part are in two blocks.
        let (fixture, delivery) = try await StoreFixture.prepared(messages: 16_000, partSize: 1_000)
        func second(of delivery: Int64) async throws -> ClaimedPart {
            let parts = try await fixture.claim(limit: 16).filter { $0.deliveryID == delivery }.sorted { $0.id < $1.id }
            return try required(parts.count > 1 ? parts[1] : nil)
        }
        let part = try await second(of: delivery)
        #expect(!part.isApplicationProven && !part.isAlone && !part.othersPass)
        let loaded = try await fixture.store.loadPart(part, fieldNames: ["city"])
        #expect(loaded.accepted.isEmpty && loaded.userHashes.count == 1_000)
        let count = 1_000
        _ = try await fixture.store.storeOutcomes(sent(part, loaded, rows: 0..<3))
        _ = try await fixture.store.storeOutcomes(sent(part, loaded, rows: (count - 100)..<count))
        let further = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 1_000)
        let next = try await second(of: further)
        #expect(next.isApplicationProven)
        let again = try await fixture.store.loadPart(next, fieldNames: ["city"])
        #expect(again.accepted.indices.filter { again.accepted[$0] } == Array(0..<3) + Array((count - 100)..<count))
        // Loading one by one, or in pieces, gives the same result.
        let sparse = ClaimedPart(next, isDense: false)
        #expect(try await fixture.store.loadPart(sparse, fieldNames: []).accepted == again.accepted)
        #expect(try await fixture.store.loadPart(sparse, fieldNames: []).userHashes == again.userHashes)
        let before = try await fixture.sql(
            "SELECT sum(xmin::text::bigint)::bigint FROM pushmta_engine.subscription_acceptance"
        )
        #expect(sent(next, again, rows: 0..<3).acceptances.isEmpty)
        _ = try await fixture.store.storeOutcomes(sent(next, again, rows: 0..<3))
        // Even a session that does not know it writes nothing.
        _ = try await fixture.store.group([SubscriptionAcceptance.noting([again.subscriptionIDs[0]], of: 1)])
        #expect(
            try await fixture.sql("SELECT sum(xmin::text::bigint)::bigint FROM pushmta_engine.subscription_acceptance")
                == before
        )
    }

    @Test("Bits are where the database would set them, in whatever order ids come, and however often")
    func bits() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 4, partSize: 10)
        let ids: [Int64] = [1_025, 5, 1_023, 3_000_000_000, 5, 1_024, 0, -1, -1_024, 7, -1_025, 8]
        _ = try await fixture.store.group([SubscriptionAcceptance.noting(ids, of: 1)])
        _ = try await fixture.store.group([SubscriptionAcceptance.noting([], of: 1)])
        let expected = """
            SELECT x.id >> 10 AS block, bit_or(set_bit(0::bit(1024), (x.id & 1023)::integer, 1)) AS accepted
            FROM unnest(ARRAY\(ids)::bigint[]) x(id) GROUP BY 1
            """
        let stored = "SELECT block, accepted FROM pushmta_engine.subscription_acceptance"
        #expect(try await fixture.sql("SELECT count(*) FROM (\(stored)) x") == 5)
        #expect(try await fixture.sql("SELECT count(*) FROM ((\(expected)) INTERSECT (\(stored))) x") == 5)
    }

    @Test("Users are distinguished; a subscription without a key belongs to no user")
    func users() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 4, partSize: 10)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET user_key = CASE WHEN id % 4 = 0 THEN '' WHEN id % 4 = 1 THEN 'a' ELSE 'b' END"
        )
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        let hashes = Dictionary(grouping: zip(loaded.subscriptionIDs, loaded.userHashes), by: { $0.0 % 4 })
            .mapValues { Set($0.map(\.1)) }
        #expect(hashes[0] == [0] && hashes[1]?.contains(0) == false)
        #expect(hashes[2] == hashes[3] && hashes[1] != hashes[2])
    }

    @Test("A token that replaces another is unproven; one that is registered again stays proven")
    func replaced() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 3, partSize: 10)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        _ = try await fixture.store.storeOutcomes(sent(part, loaded, rows: 0..<3))
        let id = loaded.subscriptionIDs[1]
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, new_token)
            VALUES (1, \(id), 'canonical', 'another-token')
            """
        )
        #expect(try await fixture.store.applyTokenEvents() == 1)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET registered_at = now(), push_token = push_token")
        _ = try await fixture.startedDelivery()
        try await fixture.prepare()
        let next = try required(try await fixture.claim().first)
        #expect(try await fixture.store.loadPart(next, fieldNames: []).accepted == [true, false, true])
    }

    @Test("Closing a circuit keeps what no mix-up can cause, dated or not")
    func genuine() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 10, partSize: 20)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        func refusals(_ rows: Range<Int>) -> OutcomeBatch {
            var batch = OutcomeBatch()
            for row in rows {
                let (reason, since): (String, Int64?) =
                    switch row % 3 {
                    case 0: ("BadDeviceToken", nil)
                    case 1: ("UNREGISTERED", nil)
                    default: ("Unregistered", 4_000_000_000_000)
                    }
                batch.append(
                    part: part.id,
                    token: part.fencingToken,
                    sequence: loaded.sequences[row],
                    subscriptionID: loaded.subscriptionIDs[row],
                    status: .failed,
                    httpStatus: 410,
                    reason: reason,
                    tokenEffect: .invalid(sinceMilliseconds: since)
                )
            }
            return batch
        }
        _ = try await fixture.store.storeOutcomes(refusals(0..<3))
        try await fixture.store.openCircuit(
            application: 1,
            reason: "doubtful",
            remedy: "check",
            holdsTokenEffects: true
        )
        _ = try await fixture.store.storeOutcomes(refusals(3..<6))
        try await fixture.store.applyTokenEvents()
        try await fixture.store.closeCircuit(application: 1)
        // From a session that learned of it late.
        _ = try await fixture.store.storeOutcomes(refusals(6..<9))
        try await fixture.store.applyTokenEvents()
        func disabled() async throws -> Int64? {
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE NOT enabled")
        }
        #expect(try await disabled() == 6)
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.token_event WHERE state = 'undone' AND reason = 'BadDeviceToken'"
            ) == 3
        )
    }

    /// Claims a part for a new child and sets it aside.
    private func putAside(_ fixture: StoreFixture, _ part: ClaimedPart, problem: String? = "refused") async throws {
        #expect(
            try await fixture.store.releasePart(
                PartToken(part: part.id, token: part.fencingToken),
                problem: problem,
                alone: true
            )
        )
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET not_before = now() - interval '1 minute'")
    }

    @Test("A part that was set aside is sent alone, and is believed when others of its delivery get through")
    func aside() async throws {
        let (fixture, delivery) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let first = try required(try await fixture.claim().first)
        try await putAside(fixture, first)
        #expect(try await fixture.store.refusedDelivery(ofPart: first.id) == nil, "others have not been tried")
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta.delivery_progress WHERE waiting_reason = 'refused'")
                == 1
        )
        let parts = try await fixture.claim(limit: 9).sorted { $0.id < $1.id }
        #expect(parts.map(\.isAlone) == [true, false, false] && !parts.contains { $0.othersPass })
        for part in parts { try await putAside(fixture, part) }
        #expect(try await fixture.store.refusedDelivery(ofPart: first.id) == delivery, "nothing else is left")
        let again = try await fixture.claim(limit: 9).sorted { $0.id < $1.id }
        #expect(again.allSatisfy { $0.isAlone && !$0.othersPass })
        let loaded = try await fixture.store.loadPart(again[2], fieldNames: [])
        _ = try await fixture.store.storeOutcomes(sent(again[2], loaded, rows: 0..<20))
        for part in again.prefix(2) { try await putAside(fixture, part) }
        #expect(try await fixture.store.refusedDelivery(ofPart: first.id) == nil)
        let last = try await fixture.claim(limit: 9)
        #expect(last.count == 2 && last.allSatisfy { $0.isAlone && $0.othersPass })
    }

    @Test("A part that opened the circuit is sent alone and is not believed for that")
    func tripped() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 40, partSize: 20)
        let parts = try await fixture.claim(limit: 9).sorted { $0.id < $1.id }
        let loaded = try await fixture.store.loadPart(parts[0], fieldNames: [])
        _ = try await fixture.store.storeOutcomes(sent(parts[0], loaded, rows: 0..<20))
        try await putAside(fixture, parts[1], problem: nil)
        let again = try required(try await fixture.claim(limit: 9).first { $0.id == parts[1].id })
        #expect(again.isAlone && !again.othersPass)
    }
}

extension ClaimedPart {
    /// The same part, as if its ids were far apart.
    fileprivate init(_ part: ClaimedPart, isDense: Bool) {
        self.init(
            id: part.id,
            deliveryID: part.deliveryID,
            fencingToken: part.fencingToken,
            size: part.size,
            attempt: part.attempt,
            logDay: part.logDay,
            priority: part.priority,
            dispatchMark: part.dispatchMark,
            applicationID: part.applicationID,
            isDense: isDense,
            hasVariables: part.hasVariables,
            ambiguityPolicy: part.ambiguityPolicy
        )
    }
}
