import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Categories of deliveries, and opt-outs from them.
@Suite("Categories of deliveries", .timeLimit(.minutes(3)))
struct CategoryTests {
    /// A fixture with six subscribers; those of the given ids opted out of a category.
    private func fixture(out ids: [Int64] = [2, 5], of category: String = "marketing") async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 6)
        for id in ids { try await fixture.store.setOptOut(id, category: category, true) }
        return fixture
    }

    @discardableResult
    private func delivery(
        _ fixture: StoreFixture,
        _ category: String? = nil,
        _ change: (inout NewDelivery) -> Void = { _ in }
    ) async throws -> Int64 {
        var new = NewDelivery(label: "d", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        new.category = category
        change(&new)
        return try await fixture.store.createDelivery(new)
    }

    private func text(_ fixture: StoreFixture, _ sql: String) async throws -> String {
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        return try await connection.execute(PostgresStatement(sql, prepare: false)).text(0, 0)
    }

    private func reasons(_ fixture: StoreFixture, _ delivery: Int64) async throws -> String {
        try await text(
            fixture,
            """
            SELECT coalesce(string_agg(subscription_id || ' ' || reason, ', ' ORDER BY subscription_id), '')
            FROM pushmta.exclusion_log WHERE delivery_id = \(delivery)
            """
        )
    }

    @Test("A service begins with four categories, and a delivery is marketing unless it says otherwise")
    func first() async throws {
        let fixture = try await fixture(out: [])
        let store = fixture.store
        let rows = try await store.categories()
        #expect(rows.map(\.name) == ["marketing", "news", "service", "transactional"])
        #expect(rows.filter(\.isTransactional).map(\.name) == ["transactional"])
        let usual = try await delivery(fixture)
        #expect(try await store.deliveryProgress(usual).category == "marketing")
        let receipt = try await delivery(fixture, "transactional")
        #expect(try await fixture.sql("SELECT pushmta_engine.is_transactional(\(receipt))::int") == 1)
        #expect(try await fixture.sql("SELECT pushmta_engine.is_transactional(\(usual))::int") == 0)
        #expect(try await store.deliveryProgress(try await store.copyDelivery(receipt)).category == "transactional")
        for wrong in ["nothing", "No name"] {
            await #expect(throws: StoreError.self) { try await delivery(fixture, wrong) }
        }
    }

    /// The category of each application of a delivery, with its service.
    private func categories(_ fixture: StoreFixture, _ delivery: Int64) async throws -> String {
        try await text(
            fixture,
            """
            SELECT string_agg(v.name || ' ' || k.name, ', ' ORDER BY v.id) FROM pushmta_engine.delivery_application x
            JOIN pushmta_engine.category k ON k.id = x.category_id JOIN pushmta_engine.service v ON v.id = k.service_id
            WHERE x.delivery_id = \(delivery)
            """
        )
    }

    @Test("A delivery to several services has the category of that name in each of them")
    func severalServices() async throws {
        let fixture = try await fixture(out: [])
        let store = fixture.store
        try await fixture.addBank()
        let both: @Sendable (inout NewDelivery) -> Void = { $0.applications = ["shop-ios", "bank-ios"] }
        let usual = try await delivery(fixture, nil, both)
        #expect(try await store.deliveryProgress(usual).category == "marketing")
        #expect(try await categories(fixture, usual) == "shop marketing, bank marketing")
        let receipt = try await delivery(fixture, "transactional", both)
        #expect(try await fixture.sql("SELECT pushmta_engine.is_transactional(\(receipt))::int") == 1)
        let copy = try await store.copyDelivery(receipt)
        #expect(try await categories(fixture, copy) == "shop transactional, bank transactional")
        try await store.setCategory("promo", service: "shop", label: "Promo")
        let lacking = await #expect(throws: StoreError.self) { try await delivery(fixture, "promo", both) }
        #expect(lacking?.sqlState == "PM150" && lacking?.message.contains("service \"bank\"") == true)
        try await store.setCategory("promo", service: "bank", label: "Promo", isTransactional: true)
        let promo = try await delivery(fixture, "promo", both)
        let services =
            "SELECT count(*) FROM pushmta_engine.service v WHERE pushmta_engine.is_transactional(\(promo), v.id)"
        #expect(try await fixture.sql("\(services) AND v.name = 'bank'") == 1)
        #expect(try await fixture.sql(services) == 1)
        await #expect(throws: StoreError.self) { try await store.dropCategory("promo", service: "bank") }
    }

    /// The ways in which a chunk finds its people.
    enum Way: CaseIterable { case list, range, tokens, users }

    @Test("Opt-outs of each service count for a delivery to several", arguments: Way.allCases)
    func optOutsOfSeveral(_ way: Way) async throws {
        let fixture = try await fixture(out: [2])
        try await fixture.addBank()
        try await fixture.store.setOptOut(8, category: "marketing", true)
        try await fixture.store.setOptOut(9, category: "news", true)
        let id = try await delivery(fixture) {
            $0.applications = ["shop-ios", "bank-ios"]
            $0.explicitTargets = way == .list
            $0.onePerUser = way == .users
        }
        switch way {
        case .list:
            try await fixture.sql(
                "INSERT INTO pushmta.delivery_target (delivery_id, subscription_id) SELECT \(id), n FROM generate_series(1, 12) n"
            )
        case .range:
            try await fixture.sql("UPDATE pushmta_engine.delivery SET allow_duplicates = true WHERE id = \(id)")
        case .tokens, .users: break
        }
        try await fixture.store.startDelivery(id)
        try await fixture.prepare()
        #expect(try await reasons(fixture, id) == "2 category_opted_out, 8 category_opted_out")
        // Who opts out after the preparation gets nothing more.
        try await fixture.store.setOptOut(10, category: "marketing", true)
        let sending = try await fixture.store.deliveryForSending(id)
        var refused: [Int64] = []
        for application in ["shop-ios", "bank-ios"] {
            while let part = try await fixture.claim(application).first {
                let fields = MessageFields(names: [], category: sending.category(ofApplication: part.applicationID))
                let loaded = try await fixture.store.loadPart(part, fields)
                refused += zip(loaded.subscriptionIDs, loaded.decisions).filter { $1 == .categoryOptedOut }.map(\.0)
            }
        }
        #expect(refused == [10])
    }

    @Test("A count of a delivery to several services leaves out who opted out in each of them")
    func countOfSeveral() async throws {
        let fixture = try await fixture(out: [2])
        try await fixture.addBank()
        for id: Int64 in [8, 10] { try await fixture.store.setOptOut(id, category: "marketing", true) }
        try await fixture.store.setOptOut(9, category: "news", true)
        let id = try await delivery(fixture) { $0.applications = ["shop-ios", "bank-ios"] }
        // Else a token could belong to both applications, and the target cannot be counted.
        try await fixture.sql("UPDATE pushmta_engine.delivery SET allow_duplicates = true WHERE id = \(id)")
        let counts = try await fixture.store.countTarget(ofDelivery: id)
        #expect(counts.map { "\($0.application) \($0.messages)" } == ["bank-ios 4", "shop-ios 5"])
        // The same people as in the preparation.
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.prepare().messages == 9)
    }

    @Test("What the category means in any of the services decides the messages")
    func analysisOfSeveral() async throws {
        let fixture = try await fixture(out: [])
        try await fixture.addBank()
        let id = try await delivery(fixture, "news") { $0.applications = ["shop-ios", "bank-ios"] }
        try await fixture.store.setFrequencyCap(
            FrequencyCapRow(service: "bank", name: "day", maxMessages: 1, unit: .days)
        )
        let digest = "SELECT hashtext(pushmta_engine.preparation_digest(\(id)))"
        let before = try await fixture.sql(digest)
        try await fixture.store.setCategory("news", service: "bank", isTransactional: true)
        #expect(try await fixture.sql(digest) != before)
        try await fixture.store.setCategory("news", service: "bank", isTransactional: false)
        #expect(try await fixture.sql(digest) == before)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_application x SET category_id = NULL FROM pushmta_engine.application a
            WHERE a.id = x.application_id AND a.name = 'bank-ios' AND x.delivery_id = \(id)
            """
        )
        #expect(try await fixture.sql(digest) != before)
    }

    @Test("A category that a service gets later reaches the deliveries that have not ended")
    func laterCategory() async throws {
        let fixture = try await fixture(out: [])
        let store = fixture.store
        try await fixture.addBank()
        try await store.dropCategory("marketing", service: "bank")
        let both: @Sendable (inout NewDelivery) -> Void = { $0.applications = ["shop-ios", "bank-ios"] }
        let id = try await delivery(fixture, nil, both)
        let ended = try await delivery(fixture, nil, both)
        let other = try await delivery(fixture, "news", both)
        try await store.stopDelivery(ended)
        #expect(try await categories(fixture, id) == "shop marketing")
        let rules = "SELECT hashtext(pushmta_engine.rule_words(\(id))::text)"
        let before = try await fixture.sql(rules)
        try await store.setCategory("marketing", service: "bank", label: "Marketing")
        #expect(try await categories(fixture, id) == "shop marketing, bank marketing")
        #expect(try await categories(fixture, ended) == "shop marketing")
        #expect(try await categories(fixture, other) == "shop news, bank news")
        #expect(try await fixture.sql(rules) == before, "an approval still holds")
        // Set again, it is passed on, although the first service's is the same.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_application x SET category_id = NULL FROM pushmta_engine.application a
            WHERE a.id = x.application_id AND a.name = 'bank-ios' AND x.delivery_id = \(id)
            """
        )
        var changes = DeliveryChanges()
        changes.category = "marketing"
        try await store.updateDelivery(id, changes)
        #expect(try await categories(fixture, id) == "shop marketing, bank marketing")
    }

    @Test("Opt-outs of each service count for the messages of a continuous delivery to several")
    func messagesOfSeveral() async throws {
        let fixture = try await fixture(out: [])
        try await fixture.addBank()
        let sales = try await fixture.startContinuous(["shop-ios", "bank-ios"])
        try await fixture.store.setOptOut(8, category: "marketing", true)
        try await fixture.store.setOptOut(9, category: "news", true)
        #expect(await fixture.refusal(sales, .subscription(8)) == "PM064")
        #expect(await fixture.refusal(sales, .userKey("bank-ios-2")) == "PM064")
        #expect(await fixture.refusal(sales, .subscription(9)) == nil)
        #expect(await fixture.refusal(sales, .subscription(2)) == nil)
        let call = "pushmta.send_messages(\(sales), subscription_ids => ARRAY[1, 8, 9])"
        #expect(try await fixture.sql("SELECT m.element FROM \(call) m WHERE m.reason = 'category_opted_out'") == 2)
    }

    @Test("A category is changed, and stays while a delivery or an opt-out needs it")
    func change() async throws {
        let fixture = try await fixture(out: [1], of: "news")
        let store = fixture.store
        try await store.setCategory("orders", service: "shop", label: "Orders", isTransactional: true)
        try await store.setCategory("orders", service: "shop", label: "Your orders")
        let orders = try await store.categories().first { $0.name == "orders" }
        #expect(orders == CategoryRow(service: "shop", name: "orders", label: "Your orders", isTransactional: true))
        try await store.dropCategory("orders", service: "shop")
        _ = try await delivery(fixture)
        for (name, code) in [("marketing", StoreError.Code.conflict), ("news", .conflict), ("orders", .notFound)] {
            let error = await #expect(throws: StoreError.self) { try await store.dropCategory(name, service: "shop") }
            #expect(error?.code == code, "\(name)")
        }
        // What people do not want cannot be sent to them under another flag.
        let error = await #expect(throws: StoreError.self) {
            try await store.setCategory("news", service: "shop", isTransactional: true)
        }
        #expect(error?.code == .conflict)
        await #expect(throws: StoreError.self) { try await store.setOptOut(1, category: "transactional", true) }
        await #expect(throws: StoreError.self) { try await store.setOptOut(1, category: "nothing", true) }
    }

    @Test("Preparation leaves out who opted out of its category", arguments: [false, true])
    func subscribers(onePerUser: Bool) async throws {
        let fixture = try await fixture()
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = 3")
        for (category, isCode, told) in [
            ("marketing", false, "2 category_opted_out, 3 opted_out, 5 category_opted_out"),
            ("news", false, "3 opted_out"), ("transactional", false, "3 opted_out"), ("marketing", true, ""),
        ] {
            let id = try await delivery(fixture, category) {
                $0.onePerUser = onePerUser
                $0.isOneTimeCode = isCode
            }
            try await fixture.store.startDelivery(id)
            try await fixture.prepare(partSize: 2, partsPerChunk: 1)
            #expect(try await reasons(fixture, id) == told, "\(category)")
        }
    }

    @Test("A row of explicit targets, a filter and a seed address are judged in the same way")
    func targets() async throws {
        let fixture = try await fixture()
        let list = try await delivery(fixture) { $0.explicitTargets = true }
        try await fixture.sql(
            "INSERT INTO pushmta.delivery_target (delivery_id, subscription_id) SELECT \(list), n FROM generate_series(1, 6) n"
        )
        try await fixture.store.startDelivery(list)
        #expect(try await fixture.prepare().messages == 4)
        #expect(try await reasons(fixture, list) == "2 category_opted_out, 5 category_opted_out")
        try await fixture.store.addSeed(NewSeed(name: "two", application: nil, address: .subscription(2)))
        let filtered = try await delivery(fixture)
        try await fixture.sql(
            "SELECT 1 FROM pushmta.set_target(\(filtered), 'user_key != ''nobody'''), pushmta.set_seeds(\(filtered))"
        )
        try await fixture.store.startDelivery(filtered)
        #expect(try await fixture.prepare().messages == 4)
        #expect(try await fixture.store.deliveryProgress(filtered).seeds == 0)
        let proof = try await fixture.store.createProof(
            of: filtered,
            to: try await fixture.store.proofAddresses(["1", "2"])
        )
        #expect(try await fixture.store.deliveryProgress(proof).category == "marketing")
        #expect(try await fixture.prepare().messages == 1)
    }

    @Test("Who opts out after the preparation gets nothing more", arguments: [true, false])
    func load(dense: Bool) async throws {
        let fixture = try await fixture(out: [])
        let id = try await delivery(fixture)
        try await fixture.store.startDelivery(id)
        try await fixture.prepare()
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET dense = \(dense)")
        let part = try required(try await fixture.claim().first)
        let category = try await fixture.store.deliveryForSending(id).category
        #expect(category != nil)
        let fields = MessageFields(names: [], category: category)
        let all = Array(repeating: LoadDecision.sendable, count: 6)
        #expect(try await fixture.store.loadPart(part, fields).decisions == all)
        try await fixture.store.setOptOut(2, category: "news", true)
        #expect(try await fixture.store.loadPart(part, fields).decisions == all)
        try await fixture.store.setOptOut(2, category: "marketing", true)
        try await fixture.store.setOptOut(6, category: "marketing", true)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET enabled = false WHERE id = 6")
        let decisions: [LoadDecision] = [
            .sendable, .categoryOptedOut, .sendable, .sendable, .sendable, .disabled,
        ]
        #expect(try await fixture.store.loadPart(part, fields).decisions == decisions)
        #expect(try await fixture.store.loadParts([part], fields).first?.decisions == decisions)
        #expect(LoadDecision.categoryOptedOut.reason == "category_opted_out")
        try await fixture.store.setOptOut(2, category: "marketing", false)
        #expect(try await fixture.store.loadPart(part, fields).decisions[1] == .sendable)
    }

    @Test("A delivery of one-time codes has no category to respect at the load")
    func codes() async throws {
        let fixture = try await fixture()
        let id = try await delivery(fixture) { $0.isOneTimeCode = true }
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.store.deliveryForSending(id).category == nil)
    }

    @Test("Messages added one by one, and those of one call")
    func messages() async throws {
        let (fixture, sales) = try await StoreFixture.continuous(users: 3)
        let receipts = try await fixture.startContinuous { $0.category = "transactional" }
        try await fixture.send(sales, to: 0)
        try await fixture.store.setOptOut(2, category: "marketing", true)
        for address in [Addressee.subscription(2), .userKey("shop-ios-2")] {
            #expect(await fixture.refusal(sales, address) == "PM064")
            #expect(await fixture.refusal(receipts, address) == nil)
        }
        #expect(await fixture.refusal(sales, .subscription(3)) == nil)
        let call = "pushmta.send_messages(\(sales), subscription_ids => ARRAY[1, 2, 3])"
        #expect(try await fixture.sql("SELECT m.element FROM \(call) m WHERE m.reason = 'category_opted_out'") == 2)
        let days = "SELECT count(*) FROM pushmta_engine.delivery d WHERE d.parent_delivery_id = \(receipts)"
        #expect(try await fixture.sql("\(days) AND pushmta_engine.is_transactional(d.id)") == 1)
    }

    @Test("Another category makes other messages: an analysis is dropped")
    func analysis() async throws {
        let fixture = try await fixture()
        let id = try await delivery(fixture)
        try await fixture.store.analyzeDelivery(id)
        let digest = "SELECT hashtext(pushmta_engine.preparation_digest(\(id)))"
        let before = try await fixture.sql(digest)
        var changes = DeliveryChanges()
        changes.category = "news"
        try await fixture.store.updateDelivery(id, changes)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .editing && progress.category == "news")
        #expect(try await fixture.sql(digest) != before)
        changes.category = "nothing"
        await #expect(throws: StoreError.self) { try await fixture.store.updateDelivery(id, changes) }
    }

    @Test("A template says it, and a delivery that says it itself is right")
    func templates() async throws {
        let fixture = try await fixture(out: [])
        try await fixture.sql(
            """
            SELECT pushmta.add_template('t', '{"ios": {"title": "a"}}', settings => '{"category": "news"}',
                applications => ARRAY['shop-ios'])
            """
        )
        var new = DeliveryFromTemplate(template: "t", label: "d")
        let usual = try await fixture.store.createDelivery(new)
        new.category = "service"
        let other = try await fixture.store.createDelivery(new)
        #expect(try await fixture.store.deliveryProgress(usual).category == "news")
        #expect(try await fixture.store.deliveryProgress(other).category == "service")
    }

    @Test("A user's opt-out concerns later devices too, is forgotten with the user, and keeps a subscription")
    func users() async throws {
        let fixture = try await fixture(out: [])
        let store = fixture.store
        #expect(try await store.setOptOut(ofUser: "shop-ios-1", service: "shop", category: "news", true) == 1)
        let known = try await store.userOptOuts("shop-ios-1", applications: nil)
        #expect(known.map(\.category) == ["news", "news"])
        #expect(Set(known.map(\.application)) == ["shop-ios", "shop-android"])
        let count = "SELECT count(*) FROM pushmta_engine.category_opt_out"
        // A file adds opt-outs and takes none away: of a user as a whole, and of a token that moves to another user.
        try await store.setOptOut(2, category: "marketing", true)
        let token = try await text(fixture, "SELECT push_token FROM pushmta_engine.subscription WHERE id = 2")
        var options = ImportOptions()
        options.age = .now
        options.bringsBack = Set(ImportState.allCases)
        let rows = [
            ImportRow(line: 2, pushToken: String(repeating: "9a", count: 32), userKey: "shop-ios-1"),
            ImportRow(line: 3, pushToken: token, userKey: "someone"),
        ]
        let report = try await store.importSubscriptions(
            application: "shop-ios",
            rows: AsyncStream { continuation in
                continuation.yield(rows)
                continuation.finish()
            },
            options: options
        )
        #expect(report.created == 1 && report.moved == 1)
        #expect(
            try await text(
                fixture,
                """
                SELECT string_agg(s.user_key || ' ' || o.category, ', ' ORDER BY s.user_key, s.id) FROM pushmta.category_opt_out o
                JOIN pushmta_engine.subscription s ON s.id = o.subscription_id
                """
            ) == "shop-ios-1 news, shop-ios-1 news, shop-ios-2 marketing, someone marketing"
        )
        // The only place that has the choice is not purged.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET enabled = false, disabled_reason = 'token_renewed',
                disabled_at = now() - interval '181 days' WHERE id IN (1, 4)
            """
        )
        #expect(try await fixture.sql("SELECT pushmta_engine.purge_subscriptions(10, interval '180 days')") == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE id IN (1, 4)") == 1)
        try await fixture.sql("SELECT count(*) FROM pushmta.forget_user('shop', 'shop-ios-1')")
        #expect(try await fixture.sql(count) == 2)
        #expect(try await store.userOptOuts("shop-ios-1", applications: nil).isEmpty)
    }

    @Test("If nobody opted out of a category, its statements are those of before")
    func cost() async throws {
        let fixture = try await fixture(out: [1], of: "news")
        let ids = [try await delivery(fixture), try await delivery(fixture, "news")]
        let targets = try await fixture.store.chunkTargets(of: ids)
        #expect(targets[ids[0]]?.categorySQL == nil && targets[ids[1]]?.categorySQL != nil)
        let (plain, news) = (try required(targets[ids[0]]), try required(targets[ids[1]]))
        #expect(PreparationChunk.subscribers(plain) == PreparationChunk.subscribers(ChunkTarget()))
        // With opt-outs, the subscriptions are still read from the index, and the opt-outs in one range.
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20_000)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.category_opt_out (category_id, subscription_id, source)
            SELECT k.id, s.id, 'device' FROM pushmta_engine.category k, pushmta_engine.subscription s
            WHERE k.name IN ('news', 'marketing') AND s.id % 3 = 0 ON CONFLICT DO NOTHING
            """
        )
        try await fixture.sql("VACUUM ANALYZE pushmta_engine.subscription")
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        try await connection.run(script: Store.sessionSettings)
        func plan(_ sql: String, _ types: String, _ values: String) async throws -> String {
            try await connection.run(script: "DEALLOCATE ALL; PREPARE looked(\(types)) AS \(sql)")
            let rows = try await connection.execute(
                PostgresStatement("EXPLAIN (COSTS OFF) EXECUTE looked(\(values))", prepare: false)
            )
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }.joined(separator: "\n")
        }
        let types = "bigint, bigint, integer, integer, integer, integer"
        let chunk = try await plan(PreparationChunk.subscribers(news), types, "\(ids[1]), 50000, 1000, 64, 16, 1")
        #expect(chunk.contains("Index Only Scan using subscription_scan"), "\(chunk)")
        #expect(chunk.contains("category_opt_out_pkey") && !chunk.contains("Seq Scan"), "\(chunk)")
        let load = try await plan(Store.optOutsSQL, "date, bigint, integer", "current_date, 1, 1")
        #expect(load.contains("category_opt_out_pkey") && !load.contains("Seq Scan"), "\(load)")
        let sparse = Store.sparseSQL(MessageFields(names: [], category: 1), variables: false)
        let looked = try await plan(sparse, "date, bigint", "current_date, 1")
        #expect(looked.contains("category_opt_out") && !looked.contains("hashed"), "\(looked)")
    }
}
