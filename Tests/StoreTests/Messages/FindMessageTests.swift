import LaboratoryStore
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// A message is found by any of its ids on a phone, at a gateway or in a log.
@Suite("A message is found by any id", .timeLimit(.minutes(3)))
struct FindMessageTests {
    /// The results for an id, as "kind message".
    private static func found(_ fixture: StoreFixture, _ id: String, delivery: Int64? = nil) async throws -> [String] {
        try await fixture.store.findMessages(id, delivery: delivery).found.map {
            "\($0.kind.rawValue) \($0.message.id)"
        }
    }

    /// The reason that an id has no result.
    private static func findings(_ fixture: StoreFixture, _ id: String, delivery: Int64? = nil) async throws -> [String]
    {
        let search = try await fixture.store.findMessages(id, delivery: delivery)
        #expect(search.found.isEmpty && search.findings.allSatisfy { !$0.words.isEmpty })
        return search.findings.map(\.finding)
    }

    private static func int32() async throws -> (StoreFixture, Int64) {
        let (fixture, _) = try await StoreFixture.continuous()
        try await fixture.sql(
            "UPDATE pushmta_engine.application SET message_id_format = 'int32' WHERE name = 'shop-ios'"
        )
        return (fixture, try await fixture.startContinuous())
    }

    @Test("By delivery and number, by _mId and apns-id of any case, by a request of a device")
    func ours() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        _ = try await fixture.send(id)
        let sent = try await fixture.send(id, to: 1)
        let codec = try MessageIDCodec(
            deliveryID: sent.deliveryID,
            trackingKey: try await fixture.store.trackingKey(delivery: sent.deliveryID)
        )
        let uuid = "\(codec.uuid(sequence: sent.sequence))"
        let hex = DeliveryID.hexText(sent.deliveryID)
        #expect(try await Self.found(fixture, " \(sent.id)\n") == ["message_id \(sent.id)"])
        for text in [
            uuid, uuid.uppercased(), "{\(uuid)}", uuid.filter { $0 != "-" }, "h\(uuid),\(hex),1",
            "GET /r/?id=h\(uuid.uppercased()),\(hex),2", "https://t.example/r/?p=1&id=h\(uuid)%2C\(hex)%2C1",
        ] {
            #expect(try await Self.found(fixture, text) == ["uuid \(sent.id)"], "\(text)")
        }
        let row = try #require(try await fixture.store.findMessages(uuid).found.first?.message)
        let person = try await fixture.subscription(1)
        #expect(row.subscriptionID == person && row.status == .pending)
        #expect(try await Self.findings(fixture, "6b6499a8-9d43-4bc5-acf0-b6aeb96846f6") == ["not_given"])
        #expect(try await Self.findings(fixture, "\(sent.deliveryID)-9") == ["no_message"])
        #expect(try await Self.findings(fixture, "\(sent.deliveryID)-99999999999") == ["unreadable"])
        #expect(try await Self.findings(fixture, "99999-1") == ["no_delivery"])
        #expect(try await Self.findings(fixture, "nothing of ours") == ["unreadable"])
        #expect(try await Self.findings(fixture, "") == ["unreadable"])
        // Its key stays when its outcome is deleted.
        _ = try await fixture.sendOut()
        try await fixture.sql("UPDATE pushmta_engine.delivery SET purged = true WHERE id = \(sent.deliveryID)")
        try await fixture.sql("DELETE FROM pushmta_engine.broad_log")
        try await fixture.sql("DELETE FROM pushmta_engine.delivery_part_target")
        #expect(try await Self.findings(fixture, uuid) == ["expired"])
    }

    @Test("Numeric ids are found in decimal and as devices send them; an ambiguous text is read both ways")
    func numbers() async throws {
        let (fixture, id) = try await Self.int32()
        let sent = try await fixture.send(id)
        let first = try required(
            try await fixture.sql(
                "SELECT first_id FROM pushmta_engine.message_id_range WHERE delivery_id = \(sent.deliveryID)"
            )
        )
        let key = try await fixture.store.deliveryForSending(sent.deliveryID).messageNumberKey
        let numbers = try NumberPermutation.make(key: key)
        let number = numbers.id(of: first)
        let hex = String(number, radix: 16)
        // Digits alone may be either; here the other reading matches a message only by a chance of one in 2,000.
        #expect(try await Self.found(fixture, "\(number)").contains("int32 \(sent.id)"))
        for text in [hex, hex.uppercased(), "000\(hex)", "0x\(hex)", "h\(hex)", "h\(hex),\(id),2"] {
            #expect(try await Self.found(fixture, text).contains("int32_hex \(sent.id)"), "\(text)")
        }
        // The database reverses the program's mapping, even if it takes several steps.
        for number in [1, 2, 3, 1_000, 65_535, 65_536, 99_999_999, 2_147_483_646, 2_147_483_647] as [Int64] {
            let back = try await fixture.sql("SELECT pushmta_engine.number_of_message_id(\(numbers.id(of: number)))")
            #expect(back == number)
        }
        // A number without a message, in both readings, and texts that are not positive numbers.
        let unused = numbers.id(of: 2_147_000_000)
        #expect(try await Self.findings(fixture, "\(unused)").first == "not_given")
        #expect(try await Self.findings(fixture, "ffffffff") == ["unreadable"])
        #expect(try await Self.findings(fixture, "0") == ["unreadable"])
    }

    @Test("AES in the database matches FIPS 197, in both directions")
    func cipher() async throws {
        let fixture = try await StoreFixture.make()
        let known = try await fixture.sql(
            """
            SELECT count(*) FROM (VALUES
                ('\\x000102030405060708090a0b0c0d0e0f'::bytea, '\\x00112233445566778899aabbccddeeff'::bytea,
                    '\\x69c4e0d86a7b0430d8cdb78070b4c55a'::bytea),
                ('\\x2b7e151628aed2a6abf7158809cf4f3c', '\\x3243f6a8885a308d313198a2e0370734',
                    '\\x3925841d02dc09fbdc118597196a0b32')) v(key, plain, made)
            WHERE pushmta_engine.aes_block(key, plain, false) = made AND pushmta_engine.aes_block(key, made, true) = plain
            """
        )
        #expect(known == 2)
    }

    @Test(
        "A gateway's id is found within its delivery, whole or by its last part, and within a continuous one on all days"
    )
    func gateway() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let sent = try await fixture.send(id)
        _ = try await fixture.sendOut()
        let name = "0:1500415314455276%31bd1c9631bd1c96"
        try await fixture.sql("UPDATE pushmta_engine.broad_log SET gateway_message_id = '\(name)'")
        for text in [name, "projects/shop/messages/\(name)"] {
            #expect(try await Self.found(fixture, text, delivery: sent.deliveryID) == ["gateway_id \(sent.id)"])
            #expect(try await Self.found(fixture, text, delivery: id) == ["gateway_id \(sent.id)"])
            #expect(try await Self.findings(fixture, text) == ["needs_delivery"])
        }
        // If the project is not the credential's, the whole name is stored.
        try await fixture.sql("UPDATE pushmta_engine.broad_log SET gateway_message_id = 'projects/other/messages/7'")
        #expect(try await Self.found(fixture, "projects/other/messages/7", delivery: id) == ["gateway_id \(sent.id)"])
        #expect(try await Self.findings(fixture, name, delivery: id) == ["not_given"])
    }

    @Test("No search for a message scans a whole log")
    func plans() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5_000)
        let id = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 1_000)
        _ = try await fixture.sendOut()
        try await fixture.sql("ANALYZE")
        for statement in [
            "SELECT * FROM pushmta.message_status m WHERE m.delivery_id = \(id) AND m.sequence = 7",
            "SELECT * FROM pushmta_engine.message_id_range r WHERE int8range(r.first_id, r.last_id, '[]') @> 7::bigint",
            """
            SELECT b.sequence FROM pushmta_engine.broad_log b WHERE b.log_day = (now() AT TIME ZONE 'UTC')::date \
            AND b.delivery_id = \(id) AND b.gateway_message_id IN ('a', 'b')
            """,
        ] {
            let connection = try await fixture.database.connect()
            // With the functions' settings.
            try await connection.run(script: "SET enable_seqscan = off")
            let plan = try await connection.execute(PostgresStatement("EXPLAIN \(statement)", prepare: false))
            let lines = try (0..<plan.rowCount).map { try plan.text($0, 0) }
            #expect(!lines.contains { $0.contains("Seq Scan") }, "\(lines.joined(separator: "\n"))")
            await connection.close()
        }
    }
}
