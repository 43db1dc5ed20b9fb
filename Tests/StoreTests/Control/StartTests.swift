import LaboratoryStore
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The start of a delivery, and its return to editing")
struct StartTests {
    private func continuous(_ fixture: StoreFixture) async throws -> Int64 {
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        var delivery = NewDelivery(label: "codes", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        delivery.isContinuous = true
        return try await fixture.store.createDelivery(delivery)
    }

    @Test("A start of a delivery that is being prepared takes its turn before the next chunk", .timeLimit(.minutes(1)))
    func startDuringPreparation() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 40)
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await fixture.store.analyzeDelivery(id)
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
        _ = try await fixture.store.prepareChunk(job, partSize: 10, partsPerChunk: 1)
        let chunk = try await fixture.hold(
            "SELECT FROM pushmta_engine.delivery WHERE id = \(id) FOR NO KEY UPDATE"
        )
        let start = Task { try await fixture.other.startDelivery(id) }
        let turns = """
            SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
            WHERE c.relname ~ '^delivery_lock_[0-9]+$' AND l.mode = 'ExclusiveLock' AND l.granted
                AND l.database = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database())
            """
        try await eventually("the start has its turn") { try await fixture.sql(turns) ?? 0 > 0 }
        try await chunk.run(script: "COMMIT")
        try await start.value
        await chunk.close()
        #expect(try await fixture.store.deliveryProgress(id).state == .pending)
        // Nobody holds the turn of a delivery that nobody else has locked.
        let other = try await fixture.startedDelivery(explicit: true)
        let starter = try await fixture.hold("SELECT pushmta.start_delivery(\(other))")
        #expect(try await fixture.sql(turns) == 0)
        try await starter.run(script: "COMMIT")
        await starter.close()
    }

    @Test("start_delivery and send_message work one after the other, and in one transaction", arguments: [false, true])
    func startAndSend(together: Bool) async throws {
        let fixture = try await StoreFixture.make()
        for _ in 0..<5 {
            let id = try await continuous(fixture)
            let place = try await fixture.subscription(0)
            let statements = [
                "SELECT pushmta.start_delivery(\(id))",
                "SELECT * FROM pushmta.send_message(\(id), subscription_id => \(place))",
                "SELECT * FROM pushmta.send_messages(\(id), subscription_ids => ARRAY[\(place)::bigint])",
            ]
            let marketing = try await fixture.database.connect()
            try await marketing.run(script: "SET ROLE pushmta_marketing")
            if together {
                try await marketing.run(script: "BEGIN; \(statements.joined(separator: "; ")); COMMIT")
            } else {
                for statement in statements { try await marketing.run(script: statement) }
            }
            await marketing.close()
            let day = try required(try await fixture.store.days(ofDelivery: id).first)
            #expect(day.state == .inProgress)
            #expect(try await fixture.parts(day.id, "ready") == 2)
            #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
            // Nothing remains to be prepared.
            #expect(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first == nil)
        }
        #expect(try await fixture.claim(limit: 99).count == 10)
    }

    @Test("A content that cannot be sent is refused when a continuous delivery starts, too")
    func checked() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await continuous(fixture)
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET content = '{\"ios\": {\"titel\": 1}}' WHERE id = \(id)"
        )
        await #expect { try await fixture.store.startDelivery(id) } throws: {
            ($0 as? StoreError)?.sqlState == "PM020" || ($0 as? PostgresError)?.sqlState == "PM020"
        }
    }

    @Test("A start of more than a minute ago is refused, and one of a moment ago means now")
    func past() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1)
        func state(_ moment: String) async throws -> String? {
            let id = try await fixture.store.createDelivery(
                NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
            )
            let connection = try await fixture.database.connect()
            defer { Task { await connection.close() } }
            do {
                try await connection.run(script: "SELECT pushmta.start_delivery(\(id), \(moment))")
                return nil
            } catch let error as PostgresError {
                #expect(try await fixture.store.deliveryProgress(id).state == .editing)
                return error.sqlState
            }
        }
        #expect(try await state("clock_timestamp() - interval '61 seconds'") == "PM009")
        #expect(try await state("clock_timestamp() - interval '1 year'") == "PM009")
        #expect(try await state("'-infinity'") == "PM007")
        #expect(try await state("'infinity'") == "PM007")
        #expect(try await state("clock_timestamp() - interval '50 seconds'") == nil)
        #expect(try await state("NULL") == nil)
        #expect(try await state("clock_timestamp() + interval '1 hour'") == nil)
    }

    @Test("Started by a clock that is slightly ahead, a continuous delivery accepts messages in the same transaction")
    func nowByAnotherClock() async throws {
        for moment in ["NULL", "clock_timestamp()", "clock_timestamp() + interval '500 milliseconds'"] {
            let fixture = try await StoreFixture.make()
            try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1)
            var new = NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
            new.isContinuous = true
            let id = try await fixture.store.createDelivery(new)
            let connection = try await fixture.database.connect()
            try await connection.run(
                script: """
                    BEGIN;
                    SELECT pushmta.start_delivery(\(id), \(moment));
                    SELECT pushmta.send_message(\(id), user_key => 'shop-ios-1');
                    COMMIT
                    """
            )
            await connection.close()
            #expect(try await fixture.store.deliveryProgress(id).state == .inProgress, "\(moment)")
        }
    }

    @Test("A delivery that cannot be prepared returns to editing with all its problems, and starts when they are fixed")
    func returned() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 30)
        try await fixture.sql("UPDATE pushmta_engine.application SET message_id_format = 'int32'")
        let id = try await fixture.startedDelivery()
        _ = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
        #expect(try await fixture.store.returnDelivery(id, reason: "first thing\nsecond thing") == .editing)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .editing && progress.stateReason == "first thing\nsecond thing")
        #expect(progress.reasonLine == "first thing; second thing")
        #expect(progress.startedAt == nil && progress.target == 0)
        let problems = "FROM pushmta.check_delivery(\(id)) WHERE subject = 'start'"
        #expect(try await fixture.sql("SELECT count(*) \(problems)") == 2)
        let alarms = try await fixture.alarms("delivery_returned")
        #expect(alarms.map(\.subject) == ["\(id)"])
        #expect(alarms.allSatisfy { $0.text.hasSuffix("went back to editing: first thing; second thing") })
        // A user who changes it has seen them.
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET content = '{\"ios\": {\"title\": \"better\"}}' WHERE id = \(id)"
        )
        #expect(try await fixture.sql("SELECT count(*) \(problems)") == 0)
        #expect(try await fixture.alarms("delivery_returned").isEmpty)
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.prepare().messages == 30)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
        // A delivery under way is paused, and its parts stay.
        #expect(try await fixture.store.returnDelivery(id, reason: "late") == .inProgress)
    }

    @Test("A delivery with parts is paused instead of returning to editing")
    func begun() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        let id = try await fixture.startedDelivery()
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
        #expect(try await fixture.store.prepareChunk(job, partSize: 10, partsPerChunk: 2).messages == 20)
        #expect(try await fixture.store.returnDelivery(id, reason: "broken") == .paused)
        #expect(try await fixture.parts(id, "waiting") == 2)
        #expect(try await fixture.store.deliveryProgress(id).stateReason == "broken")
        try await fixture.store.resumeDelivery(id)
        #expect(try await fixture.prepare().messages == 80)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test("check_delivery names the problems of the routes to gateways")
    func routes() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        func problems() async throws -> [String] {
            let connection = try await fixture.database.connect()
            let result = try await connection.execute(
                PostgresStatement("SELECT problem FROM pushmta.check_delivery(\(id)) WHERE subject = 'application'", [])
            )
            await connection.close()
            return try (0..<result.rowCount).map { try result.text($0, 0) }
        }
        #expect(try await problems() == [#"application "shop-ios": it has no credential"#])
        func credential(_ kind: String, _ attributes: String) async throws {
            try await fixture.sql(
                """
                WITH made AS (INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed, attributes)
                    VALUES ('\(kind)', gen_random_uuid()::text, 'k', 'x', '\(attributes)') RETURNING id)
                UPDATE pushmta_engine.application SET credential_id = (SELECT id FROM made) WHERE name = 'shop-ios'
                """
            )
        }
        try await credential("apns_key", "{}")
        #expect(try await problems().isEmpty)
        try await credential("fcm_service_account", "{}")
        #expect(try await problems().contains { $0.contains("which connector ios-http2") })
        try await credential("apns_certificate", #"{"topics": "com.other, com.other.voip", "environments": "sandbox"}"#)
        let found = try await problems()
        #expect(found.count == 2 && found.contains { $0.contains("may send to com.other,") })
        #expect(found.contains { $0.contains("is for the sandbox environment") })
        try await credential("apns_certificate", #"{"topics": "com.shop.voip"}"#)
        try await fixture.sql(
            "UPDATE pushmta_engine.external_account SET host = 'api.sandbox.push.apple.com' WHERE name = 'apns'"
        )
        #expect(try await problems().count == 1)
    }
}
