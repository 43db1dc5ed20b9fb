import LaboratoryStore
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Many messages added with one call", .timeLimit(.minutes(3)))
struct SendMessagesTests {
    /// The arguments of `pushmta.send_messages` after the delivery.
    private struct Call {
        var ids: [Int64?]?
        var keys: [String?]?
        var tokens: [String?]?
        var variables: [String?]?
        var names: [String?]?
    }

    /// A row of its result.
    private struct Sent: Equatable {
        let element: Int32
        let id: String?
        let delivery: Int64?
        let sequence: Int32?
        let subscription: Int64?
        let repeated: Bool
        let refusal: String?
        let reason: String?
    }

    private static let statement = """
        SELECT m.element, m.message_id, m.delivery_id, m.sequence, m.subscription_id, m.repeated, m.refusal, m.reason
        FROM pushmta.send_messages($1, $2::text[]::bigint[], $3::text[], $4::text[], $5::text[]::jsonb[], $6::text[]) m
        """

    private func send(_ call: Call, to delivery: Int64, _ connection: PostgresConnection) async throws -> [Sent] {
        func array(_ values: [String?]?) -> PostgresValue { values.map { .textArray($0) } ?? .null }
        let rows = try await connection.execute(
            PostgresStatement(
                Self.statement,
                [
                    .int64(delivery), array(call.ids?.map { id in id.map { String($0) } }), array(call.keys),
                    array(call.tokens), array(call.variables), array(call.names),
                ]
            )
        )
        return try (0..<rows.rowCount).map { row in
            Sent(
                element: try rows.int32(row, 0),
                id: try rows.textOrNil(row, 1),
                delivery: try rows.int64OrNil(row, 2),
                sequence: try rows.int32OrNil(row, 3),
                subscription: try rows.int64OrNil(row, 4),
                repeated: try rows.bool(row, 5),
                refusal: try rows.textOrNil(row, 6),
                reason: try rows.textOrNil(row, 7)
            )
        }
    }

    private func send(_ call: Call, to delivery: Int64, _ fixture: StoreFixture) async throws -> [Sent] {
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        return try await send(call, to: delivery, connection)
    }

    /// The SQLSTATE and message with which the whole call is refused; nil if it is not.
    private func refusal(_ call: Call, to delivery: Int64, _ fixture: StoreFixture) async throws -> (String?, String)? {
        do {
            _ = try await send(call, to: delivery, fixture)
            return nil
        } catch let error as PostgresError {
            return (error.sqlState, error.message)
        }
    }

    /// The values of a field in the messages of a part, by subscription.
    private func loaded(_ part: ClaimedPart, _ fixture: StoreFixture) async throws -> (LoadedPart, [String]) {
        let loaded = try await fixture.store.loadPart(part, fieldNames: ["code"])
        return (loaded, (0..<loaded.count).map { String(decoding: loaded.fields[0][$0], as: UTF8.self) })
    }

    private func ids(_ fixture: StoreFixture, _ count: Int) async throws -> [Int64] {
        try await (0..<count).asyncMap { try await fixture.subscription($0) }
    }

    @Test("One message is the same as with send_message")
    func one() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let place = try await fixture.subscription(0)
        let sent = try required(
            try await send(Call(ids: [place], variables: [#"{"code": "17"}"#]), to: id, fixture).first
        )
        #expect(sent.element == 1 && sent.subscription == place && !sent.repeated && sent.refusal == nil)
        #expect(sent.id == "\(try required(sent.delivery))-1" && sent.sequence == 1 && sent.reason == nil)
        #expect(try await fixture.store.message(try required(sent.id))?.status == .pending)
        let part = try required(try await fixture.claim(limit: 9).first)
        #expect(part.size == 1 && part.hasVariables && part.priority == 50 && part.validUntil != nil)
        #expect(try await loaded(part, fixture).1 == ["17"])
    }

    @Test("Many share a part, each with its own variables and outcome")
    func many() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 6)
        let places = try await ids(fixture, 5)
        let variables = (0..<4).map { #"{"code": "c\#($0)"}"# } + [nil]
        let sent = try await send(Call(ids: places.reversed(), variables: variables), to: id, fixture)
        #expect(sent.map(\.element) == [1, 2, 3, 4, 5] && sent.map(\.subscription) == places.reversed())
        #expect(sent.map(\.sequence) == [1, 2, 3, 4, 5] && sent.allSatisfy { !$0.repeated && $0.refusal == nil })
        let day = try required(sent[0].delivery)
        #expect(try await fixture.assertEquation(day))
        let parts = try await fixture.claim(limit: 9)
        #expect(parts.map(\.size) == [5] && parts[0].hasVariables)
        let (messages, codes) = try await loaded(parts[0], fixture)
        #expect(codes == ["c0", "c1", "c2", "c3", ""] && messages.subscriptionIDs == places.reversed())
        var batch = OutcomeBatch()
        batch.append(parts[0], messages, rows: 0..<5, .sent)
        batch.closing = [ClosingPart(part: parts[0].id, token: parts[0].fencingToken)]
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await fixture.store.message(try required(sent[3].id))?.status == .sent)
        #expect(try await fixture.store.snapshot(delivery: day).faults == [])
        #expect(try await fixture.assertEquation(day))
        let plain = try await send(Call(ids: [places[0], places[1]]), to: id, fixture)
        #expect(plain.map(\.sequence) == [6, 7])
        #expect(try await fixture.claim(limit: 9).map(\.hasVariables) == [false])
    }

    @Test("Retried messages of a part keep their own variables and numbers")
    func retry() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 4)
        let places = try await ids(fixture, 4)
        let variables = (0..<4).map { #"{"code": "c\#($0)"}"# }
        let sent = try await send(Call(ids: places, variables: variables), to: id, fixture)
        let part = try required(try await fixture.claim(limit: 9).first)
        let (messages, _) = try await loaded(part, fixture)
        var batch = OutcomeBatch()
        for row in [0, 2] { batch.append(part, messages, rows: row..<(row + 1), .sent) }
        let left = [1, 3].compactMap { sent[$0].sequence }
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: part.fencingToken,
                retries: [RetrySet(sequences: left, delayMilliseconds: 0)]
            )
        ]
        #expect(try await fixture.store.storeOutcomes(batch).retryParts == 1)
        let again = try required(try await fixture.claim(limit: 9).first)
        #expect(again.size == 2 && again.hasVariables && again.attempt == 2 && again.validUntil == part.validUntil)
        let (second, codes) = try await loaded(again, fixture)
        #expect(codes == ["c1", "c3"] && second.sequences == left)
        #expect(try await fixture.store.snapshot(delivery: try required(sent[0].delivery)).faults == [])
    }

    @Test("Ten thousand make ten parts; more are refused")
    func tenThousand() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 500)
        let places = try await ids(fixture, 500)
        let all = (0..<10_000).map { places[$0 % 500] }
        let sent = try await send(Call(ids: all, variables: all.map { #"{"code": "\#($0)"}"# }), to: id, fixture)
        #expect(sent.map(\.element) == (1...10_000).map { Int32($0) })
        #expect(sent.map(\.subscription) == all && Set(sent.map(\.id)).count == 10_000)
        let day = try required(sent[0].delivery)
        #expect(try await fixture.store.deliveryProgress(day).target == 10_000)
        let parts = try await fixture.claim(limit: 20)
        #expect(parts.map(\.size) == Array(repeating: 1_000, count: 10))
        let (messages, codes) = try await loaded(parts[9], fixture)
        #expect(codes == messages.subscriptionIDs.map { String($0) })
        #expect(try await refusal(Call(ids: all + [places[0]]), to: id, fixture)?.0 == "PM065")
        #expect(try await fixture.store.deliveryProgress(day).target == 10_000)
    }

    @Test("An invalid element refuses the whole call, and the error has its number")
    func badElement() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let places = try await ids(fixture, 3)
        let long = #"{"a": ""# + String(repeating: "x", count: MessageLimits.maxVariablesBytes) + #""}"#
        for call in [
            Call(ids: [places[0], nil, places[2]]),
            Call(ids: places, keys: [nil, "user-1", nil]),
            Call(ids: places, variables: [nil, "[]", nil]), Call(ids: places, variables: [nil, long, nil]),
            Call(ids: places, names: [nil, "", nil]),
            Call(ids: places, names: [nil, String(repeating: "k", count: 256), "k"]),
        ] {
            let refused = try required(try await refusal(call, to: id, fixture))
            #expect(refused.0 == "PM065" && refused.1.contains("message 2 "), "\(refused.1)")
        }
        #expect(try await refusal(Call(ids: places), to: 1 << 40, fixture)?.0 == "PM002")
        #expect(try await refusal(Call(ids: places), to: try await fixture.startedDelivery(), fixture)?.0 == "PM060")
        #expect(try await fixture.store.readyMessageParts().isEmpty)
    }

    @Test("No arrays are no messages, and arrays of different lengths are refused")
    func arrays() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let places = try await ids(fixture, 2)
        #expect(try await send(Call(), to: id, fixture).isEmpty)
        #expect(try await send(Call(ids: [], variables: []), to: id, fixture).isEmpty)
        #expect(try await refusal(Call(ids: places, variables: [nil]), to: id, fixture)?.0 == "PM065")
        #expect(try await refusal(Call(ids: places, names: []), to: id, fixture)?.0 == "PM065")
        let token = String(repeating: "Ab", count: 32)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET push_token = lower('\(token)') WHERE id = \(places[1])"
        )
        let sent = try await send(
            Call(ids: [nil, nil], keys: [nil, nil], tokens: [token, token.lowercased()]),
            to: id,
            fixture
        )
        #expect(sent.map(\.subscription) == [places[1], places[1]])
    }

    @Test("A row without a message has the reason, and the others get theirs")
    func refusals() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 6)
        let places = try await ids(fixture, 6)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET enabled = id <> \(places[1]), opted_out = id = \(places[2]),
                quarantine_status = CASE WHEN id = \(places[3]) THEN 2 ELSE 0 END
            """
        )
        let sent = try await send(Call(ids: places + [1 << 40]), to: id, fixture)
        #expect(sent.map(\.element) == [1, 2, 3, 4, 5, 6, 7])
        #expect(sent.map(\.refusal) == [nil, "PM064", "PM064", "PM064", nil, nil, "PM062"])
        #expect(
            sent.map(\.reason) == [nil, "disabled", "opted_out", "quarantine", nil, nil, "unknown_subscription"]
        )
        #expect(sent.filter { $0.refusal != nil }.allSatisfy { $0.id == nil && $0.sequence == nil && !$0.repeated })
        #expect(try await fixture.claim(limit: 9).map(\.size) == [3])
        let nobody = try await send(Call(keys: ["nobody"]), to: id, fixture)
        #expect(nobody.map(\.refusal) == ["PM062"])
        try await fixture.store.pauseDelivery(id)
        #expect(try await refusal(Call(ids: [places[0]]), to: id, fixture)?.0 == "PM061")
    }

    @Test("All subscriptions of a user have a row, in the order of the elements")
    func users() async throws {
        let (fixture, id) = try await StoreFixture.continuous(applications: ["shop-ios", "shop-android"])
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 1)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'ada' WHERE id <> 3")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'bob' WHERE id = 3")
        let sent = try await send(
            Call(keys: ["ada", "bob"], variables: [#"{"code": "a"}"#, #"{"code": "b"}"#]),
            to: id,
            fixture
        )
        #expect(sent.map(\.element) == [1, 1, 1, 2] && Set(sent.map(\.id)).count == 4)
        #expect(try await fixture.parts(try required(sent[0].delivery), "ready") == 2, "a part for each application")
        let (messages, codes) = try await loaded(try required(try await fixture.claim(limit: 9).first), fixture)
        #expect(zip(messages.subscriptionIDs, codes).allSatisfy { $0 == 3 ? $1 == "b" : $1 == "a" } && codes.count == 3)
        #expect(try await fixture.assertEquation(try required(sent[0].delivery)))
    }

    @Test("The same addressee twice gets two messages; the same key makes one, in a call and after it")
    func duplicates() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let places = try await ids(fixture, 3)
        let twice = try await send(Call(ids: [places[0], places[0]]), to: id, fixture)
        #expect(Set(twice.map(\.id)).count == 2 && twice.allSatisfy { !$0.repeated })
        let call = Call(
            ids: [places[0], places[1], places[0], places[2], places[2], 1 << 40, 1 << 40],
            variables: [#"{"a": "1", "b": "2"}"#, nil, #"{"b": "2", "a": "1"}"#, nil, nil, nil, nil],
            names: ["one", nil, "one", "one", "two", "three", "three"]
        )
        let sent = try await send(call, to: id, fixture)
        #expect(sent.map(\.element) == [1, 2, 3, 4, 5, 6, 7])
        #expect(sent.map(\.refusal) == [nil, nil, nil, "PM063", nil, "PM062", "PM062"])
        #expect(sent.map(\.repeated) == [false, false, true, false, false, false, false])
        #expect(sent[2].id == sent[0].id)
        let again = try await send(call, to: id, fixture)
        #expect(again.map(\.refusal) == sent.map(\.refusal))
        #expect(again.map(\.repeated) == [true, false, true, false, true, false, false])
        #expect(again[0].id == sent[0].id && again[4].id == sent[4].id && again[1].id != sent[1].id)
        let single = try await fixture.store.sendMessage(
            NewMessage(deliveryID: id, address: .subscription(places[2]), idempotencyKey: "two")
        )
        #expect(single.map(\.id) == [sent[4].id] && single[0].isRepeated, "keys are those of send_message")
        #expect(try await fixture.store.deliveryProgress(try required(sent[0].delivery)).target == 6)
        try await fixture.store.stopDelivery(id)
        let late = try await send(Call(ids: [places[2]], names: ["two"]), to: id, fixture)
        #expect(late.map(\.id) == [sent[4].id], "what was sent was sent, whatever became of the delivery")
        #expect(try await refusal(Call(ids: places, names: ["two", "x", "y"]), to: id, fixture)?.0 == "PM061")
    }

    @Test("The program's own call reports the result of each message")
    func called() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let places = try await ids(fixture, 3)
        func message(_ address: Addressee, _ key: String? = nil) -> NewMessage {
            NewMessage(deliveryID: id, address: address, variables: #"{"a": "1"}"#, idempotencyKey: key)
        }
        let messages = [
            message(.subscription(places[0])), message(.userKey("nobody")), message(.userKey("shop-ios-2"), "one"),
            message(.userKey("shop-ios-2"), "one"),
        ]
        let sent = try await fixture.store.sendMessages(messages, delivery: id)
        #expect(sent.map(\.references.count) == [1, 0, 1, 1])
        #expect(sent.map(\.refusal?.code) == [nil, "PM062", nil, nil])
        #expect(sent[1].refusal?.reason.isEmpty == false)
        #expect(sent[0].references.map(\.subscriptionID) == [places[0]])
        #expect(sent[3].references.map(\.id) == sent[2].references.map(\.id) && sent[3].references[0].isRepeated)
        #expect(try await fixture.store.sendMessages([], delivery: id).isEmpty)
        await #expect(throws: StoreError.self) { try await fixture.store.sendMessages(messages, delivery: 1 << 40) }
    }

    @Test("Parts loaded together have the same contents as loaded separately")
    func loadedTogether() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 6)
        let places = try await ids(fixture, 6)
        for (number, place) in places.enumerated() {
            try await fixture.send(id, to: number, variables: #"{"code": "\#(number)"}"#)
            if number == 2 {
                _ = try await send(Call(ids: [place, place], variables: [#"{"code": "x"}"#, nil]), to: id, fixture)
            }
        }
        try await fixture.sql("DELETE FROM pushmta_engine.subscription WHERE id = \(places[1])")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET enabled = false WHERE id = \(places[3])")
        try await fixture.sql(
            "INSERT INTO pushmta_engine.subscription_acceptance SELECT 1, \(places[4]) >> 10,"
                + " set_bit(0::bit(1024), (\(places[4]) & 1023)::integer, 1)"
        )
        let parts = try await fixture.claim(limit: 20)
        #expect(parts.count == 7)
        let fields = MessageFields(names: ["code", "city"], withLocale: true)
        let together = try await fixture.store.loadParts(parts.reversed(), fields).reversed()
        for (part, shared) in zip(parts, together) {
            let own = try await fixture.store.loadPart(part, fields)
            #expect(shared.sequences == own.sequences && shared.subscriptionIDs == own.subscriptionIDs)
            #expect(shared.decisions == own.decisions && shared.userHashes == own.userHashes)
            for row in 0..<own.count {
                #expect(shared.tokens[row].elementsEqual(own.tokens[row]))
                #expect(shared.locales[row].elementsEqual(own.locales[row]))
                for field in own.fields.indices {
                    #expect(shared.fields[field][row].elementsEqual(own.fields[field][row]))
                }
                #expect(
                    (shared.accepted.isEmpty ? false : shared.accepted[row]) == (own.subscriptionIDs[row] == places[4])
                )
            }
        }
        #expect(Set(together.flatMap(\.decisions)) == [.sendable, .missing, .disabled])
        let unknown = try required(parts.first)
        await #expect(throws: StoreError.self, "a part that is not there") {
            try await fixture.sql("DELETE FROM pushmta_engine.delivery_part_target WHERE part_id = \(unknown.id)")
            _ = try await fixture.store.loadParts(parts, fields)
        }
    }

    @Test("Two concurrent calls with the same keys in a different order create one message per key")
    func concurrent() async throws {
        let (fixture, id) = try await StoreFixture.continuous(users: 40)
        let places = try await ids(fixture, 40)
        let names = (0..<40).map { "key-\($0)" }
        let sent = try await withThrowingTaskGroup { group in
            for session in 0..<6 {
                group.addTask {
                    let connection = try await fixture.database.connect()
                    defer { Task { await connection.close() } }
                    let call =
                        session % 2 == 0
                        ? Call(ids: places, names: names) : Call(ids: places.reversed(), names: names.reversed())
                    return try await send(call, to: id, connection)
                }
            }
            return try await group.reduce(into: [Sent]()) { $0 += $1 }
        }
        #expect(sent.count == 240 && sent.allSatisfy { $0.refusal == nil })
        #expect(sent.count { !$0.repeated } == 40 && Set(sent.map(\.id)).count == 40)
        let day = try required(sent[0].delivery)
        #expect(try await fixture.store.deliveryProgress(day).target == 40)
        #expect(try await fixture.store.snapshot(delivery: day).faults == [])
    }

    @Test("A rolled-back transaction leaves no message, and its keys are free")
    func rollback() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let places = try await ids(fixture, 3)
        let call = Call(ids: places.map { $0 }, names: ["a", "b", "c"])
        let connection = try await fixture.database.connect()
        try await connection.run(script: "BEGIN")
        let given = try await send(call, to: id, connection)
        #expect(given.count == 3)
        try await connection.run(script: "ROLLBACK")
        await connection.close()
        #expect(try await fixture.store.readyMessageParts().isEmpty)
        let sent = try await send(call, to: id, fixture)
        #expect(sent.allSatisfy { !$0.repeated && $0.refusal == nil })
        #expect(try await fixture.store.deliveryProgress(try required(sent[0].delivery)).target == 3)
    }

    @Test("If a day has too few numbers left, the whole call goes to the next day")
    func numbers() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let places = try await ids(fixture, 3)
        let first = try required(try await send(Call(ids: [places[0]]), to: id, fixture).first)
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET target = 3 WHERE id = \(try required(first.delivery))"
        )
        let sent = try await send(Call(ids: places.map { $0 }), to: id, fixture)
        #expect(sent.map(\.sequence) == [1, 2, 3] && Set(sent.map(\.delivery)).count == 1)
        #expect(sent[0].delivery != first.delivery)
        #expect(try await fixture.send(id).deliveryID == sent[0].delivery)
    }

    @Test("A sleeping host is woken once for all of them")
    func wakeUps() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let places = try await ids(fixture, 3)
        let listener = try await fixture.store.listen()
        try await fixture.sql("UPDATE pushmta_engine.mta_host SET asleep = true, last_heartbeat = clock_timestamp()")
        _ = try await send(Call(ids: places.map { $0 }), to: id, fixture)
        #expect(try await listener.nextWakeUp(deadline: .now + .seconds(20)) == .message)
        #expect(try await listener.nextWakeUp(deadline: .now) == nil)
        await listener.close()
    }
}
