import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Persons who get no marketing, to measure its effect.
@Suite("Control groups", .timeLimit(.minutes(3)))
struct ControlGroupTests {
    /// Sixty users of two devices each.
    private static let users = 60

    /// A fixture whose service has a control group of half of its persons.
    private func fixture(percent: Double = 50, categories: [String]? = nil) async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: Int64(Self.users))
        try await fixture.store.seedSubscriptions(application: "shop-android", count: Int64(Self.users))
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET user_key = 'user-' || id % \(Self.users)"
        )
        if percent > 0 {
            try await fixture.store.setControlGroup(ofService: "shop", percent: percent, categories: categories)
        }
        return fixture
    }

    private static let applications = ["shop-ios", "shop-android"]

    private func delivery(
        _ fixture: StoreFixture,
        _ change: (inout NewDelivery) -> Void = { _ in }
    ) async throws -> Int64 {
        var new = NewDelivery(
            label: "d",
            applications: Self.applications,
            content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#
        )
        change(&new)
        return try await fixture.store.createDelivery(new)
    }

    private static let memberCondition = """
        EXISTS (SELECT FROM pushmta_engine.control_group g JOIN pushmta_engine.application a ON a.service_id = g.service_id
            WHERE a.id = s.application_id AND pushmta_engine.person_share(s.user_key, g.seed) < g.percent::double precision / 100)
        """

    /// The subscriptions of members.
    private func members(_ fixture: StoreFixture) async throws -> Int64 {
        let sql = "SELECT count(*) FROM pushmta_engine.subscription s WHERE \(Self.memberCondition)"
        return try await fixture.sql(sql) ?? 0
    }

    /// The people who are in the log as members of a control group.
    private func logged(_ fixture: StoreFixture, _ delivery: Int64) async throws -> Int64 {
        try await fixture.sql(
            "SELECT count(*) FROM pushmta.exclusion_log WHERE delivery_id = \(delivery) AND reason = 'control_group'"
        ) ?? 0
    }

    private static let all = Int64(users * 2)

    @Test("Members are left out of marketing on all of their devices, and counted", arguments: [false, true])
    func leftOut(onePerUser: Bool) async throws {
        let fixture = try await fixture()
        let members = try await members(fixture)
        #expect(members > 0 && members < Self.all)
        let id = try await delivery(fixture) { $0.onePerUser = onePerUser }
        let counts = try await fixture.store.countTarget(ofDelivery: id)
        try await fixture.store.startDelivery(id)
        try await fixture.prepare(partSize: 10, partsPerChunk: 2)
        #expect(try await logged(fixture, id) == members)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.target == (onePerUser ? (Self.all - members) / 2 : Self.all - members))
        #expect(counts.reduce(0) { $0 + $1.messages } == progress.target)
        #expect(counts.reduce(0) { $0 + $1.excluded } == progress.excluded)
        let wrong = """
            SELECT count(*) FROM pushmta_engine.delivery_part_target t CROSS JOIN LATERAL unnest(t.subscription_ids) u(id)
            JOIN pushmta_engine.subscription s ON s.id = u.id WHERE t.delivery_id = \(id) AND \(Self.memberCondition)
            """
        #expect(try await fixture.sql(wrong) == 0)
    }

    @Test("A list of targets is judged in the same way, with and without caps")
    func list() async throws {
        let fixture = try await fixture()
        let members = try await members(fixture)
        for isCapped in [false, true] {
            if isCapped {
                try await fixture.store.setFrequencyCap(
                    FrequencyCapRow(service: "shop", name: "day", maxMessages: 1000, unit: .hours, length: 24)
                )
            }
            let id = try await delivery(fixture) { $0.explicitTargets = true }
            try await fixture.sql(
                """
                INSERT INTO pushmta.delivery_target (delivery_id, user_key) SELECT \(id), 'user-' || n
                FROM generate_series(0, \(Self.users - 1)) n
                """
            )
            try await fixture.store.startDelivery(id)
            #expect(try await fixture.prepare().messages == Self.all - members)
            #expect(try await logged(fixture, id) == members)
        }
    }

    @Test(
        "Groups, opt-outs, caps, a filter of behaviour, a hold-out and zones of a column leave people out together",
        arguments: [false, true],
        [false, true]
    )
    func together(onePerUser: Bool, isListed: Bool) async throws {
        let fixture = try await fixture()
        let store = fixture.store
        try await store.keepBehaviour(ofService: "shop")
        try await store.setFrequencyCap(
            FrequencyCapRow(service: "shop", name: "day", maxMessages: 1, unit: .recipientDay)
        )
        try await fixture.sql(
            """
            DO $$ BEGIN
                UPDATE pushmta_engine.application
                SET subscription_parameters = '[{"name": "zone", "label": "Zone", "column": "recipient.zone", "time_zone": true}]';
                UPDATE pushmta_engine.subscription SET recipient = '{"zone": "Asia/Tokyo"}' WHERE id % 3 = 0;
                PERFORM pushmta.set_category_opt_out(s.id, 'marketing', true) FROM pushmta_engine.subscription s WHERE s.id % 7 = 0;
            END $$
            """
        )
        func prepared(isExperiment: Bool) async throws -> Set<Int64> {
            let id = try await delivery(fixture) {
                $0.onePerUser = onePerUser
                $0.explicitTargets = isListed
            }
            if isListed {
                try await fixture.sql(
                    """
                    INSERT INTO pushmta.delivery_target (delivery_id, user_key) SELECT \(id), 'user-' || n
                    FROM generate_series(0, \(Self.users - 1)) n
                    """
                )
            } else {
                try await store.setTarget(ofDelivery: id, DeliveryTarget(filter: "not clicked any within 2 days"))
            }
            if isExperiment {
                let variants =
                    #"[{"percent": 20}, {"percent": 20, "content": {"ios": {"title": "b"}, "android": {"title": "b"}}}]"#
                try await fixture.sql(
                    """
                    DO $$ BEGIN PERFORM pushmta.set_experiment(\(id), '\(variants)', decide_after => '1 hour',
                        hold_out_percent => 40); END $$
                    """
                )
            }
            try await store.startDelivery(id)
            try await fixture.prepare(partSize: 10, partsPerChunk: 2)
            return try await fixture.targets(id)
        }
        let first = try await prepared(isExperiment: true)
        let ids = first.map { "\($0)" }.joined(separator: ",")
        let barred = """
            SELECT count(*) FROM pushmta_engine.subscription s WHERE s.id = ANY('{\(ids)}')
                AND (\(Self.memberCondition) OR EXISTS (SELECT FROM pushmta.category_opt_out o WHERE o.subscription_id = s.id))
            """
        #expect(!first.isEmpty)
        #expect(try await fixture.sql(barred) == 0)
        // Who got the first one gets no second one on this day; who was held out does.
        let second = try await prepared(isExperiment: false)
        #expect(!second.isEmpty && first.isDisjoint(with: second))
    }

    @Test("What is not marketing goes to members, too")
    func exempt() async throws {
        let fixture = try await fixture()
        let receipt = try await delivery(fixture) { $0.category = "transactional" }
        let code = try await delivery(fixture) { $0.isOneTimeCode = true }
        for id in [receipt, code] {
            try await fixture.store.startDelivery(id)
            #expect(try await fixture.prepare().messages == Self.all)
            #expect(try await logged(fixture, id) == 0)
        }
        // Only for the categories that it names.
        try await fixture.store.setControlGroup(ofService: "shop", percent: 50, categories: ["news"])
        for (category, gets) in [("marketing", true), ("news", false)] {
            let id = try await delivery(fixture) { $0.category = category }
            try await fixture.store.startDelivery(id)
            try await fixture.prepare()
            #expect(try await logged(fixture, id) == (gets ? 0 : try await members(fixture)), "\(category)")
        }
        let error = await #expect(throws: StoreError.self) {
            try await fixture.store.dropCategory("news", service: "shop")
        }
        #expect(error?.code == .conflict)
    }

    @Test("A larger group keeps its members, and so does one that ended and begins again")
    func stable() async throws {
        let fixture = try await fixture(percent: 10.25)
        func ids() async throws -> Set<Int64> {
            let result = try await fixture.store.query(
                "SELECT s.id FROM pushmta_engine.subscription s WHERE \(Self.memberCondition)"
            )
            return Set(try result.all { try $0.int64() })
        }
        let first = try await ids()
        try await fixture.store.setControlGroup(ofService: "shop", percent: 50, categories: nil)
        let second = try await ids()
        #expect(second.isSuperset(of: first))
        try await fixture.store.setControlGroup(ofService: "shop", percent: 0, categories: nil)
        #expect(try await fixture.store.controlGroups().isEmpty)
        let id = try await delivery(fixture)
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.prepare().messages == Self.all)
        try await fixture.store.setControlGroup(ofService: "shop", percent: 50, categories: nil)
        #expect(try await ids() == second)
        let row = try required(try await fixture.store.controlGroups(ofService: "shop").first)
        #expect(row.percent == 50 && row.categories == nil && row.persons == nil)
    }

    @Test("A share or a category that it cannot have is refused", arguments: [-1, 50.01, 10.125, Double.nan])
    func refused(percent: Double) async throws {
        let fixture = try await fixture(percent: 0)
        for categories in [nil, ["news"]] {
            let error = await #expect(throws: StoreError.self) {
                try await fixture.store.setControlGroup(ofService: "shop", percent: percent, categories: categories)
            }
            #expect(error?.sqlState == "PM352")
        }
        for wrong in [["transactional"], ["nothing"], []] {
            await #expect(throws: StoreError.self) {
                try await fixture.store.setControlGroup(ofService: "shop", percent: 5, categories: wrong)
            }
        }
    }

    @Test("Without a group, the statements of a preparation are those of before")
    func cost() async throws {
        let fixture = try await fixture(percent: 0)
        let id = try await delivery(fixture)
        let before = try required(try await fixture.store.chunkTargets(of: [id])[id])
        #expect(before.control == nil && before.isEverybody)
        #expect(PreparationChunk.subscribers(before) == PreparationChunk.subscribers(ChunkTarget()))
        // The group of another service changes nothing.
        try await fixture.store.createService(name: "bank", label: "Bank")
        try await fixture.store.setControlGroup(ofService: "bank", percent: 50, categories: nil)
        #expect(try await fixture.store.chunkTargets(of: [id])[id]?.control == nil)
        let digest = "SELECT hashtext(pushmta_engine.preparation_digest(\(id)))"
        let unchanged = try await fixture.sql(digest)
        try await fixture.store.setControlGroup(ofService: "shop", percent: 5, categories: nil)
        let target = try required(try await fixture.store.chunkTargets(of: [id])[id])
        #expect(target.control?.groups.count == 1 && target.control?.groups.first?.applications.count == 2)
        #expect(!target.isEverybody)
        // What an analysis counted is counted again.
        #expect(try await fixture.sql(digest) != unchanged)
    }

    @Test("Messages of continuous deliveries are refused for members, also on a day that began before the group")
    func continuous() async throws {
        let (fixture, sales) = try await StoreFixture.continuous(users: Int64(Self.users))
        try await fixture.send(sales, to: 0)
        try await fixture.store.setControlGroup(ofService: "shop", percent: 50, categories: nil)
        let condition = "FROM pushmta_engine.subscription s WHERE s.user_key <> '' AND"
        let member = try required(try await fixture.sql("SELECT min(s.id) \(condition) \(Self.memberCondition)"))
        let other = try required(try await fixture.sql("SELECT min(s.id) \(condition) NOT \(Self.memberCondition)"))
        #expect(await fixture.refusal(sales, .subscription(member)) == "PM064")
        #expect(await fixture.refusal(sales, .subscription(other)) == nil)
        let call = "pushmta.send_messages(\(sales), subscription_ids => ARRAY[\(member), \(other)])"
        #expect(try await fixture.sql("SELECT m.element FROM \(call) m WHERE m.reason = 'control_group'") == 1)
        let receipts = try await fixture.startContinuous { $0.category = "transactional" }
        #expect(await fixture.refusal(receipts, .subscription(member)) == nil)
        // As if the day had been made while the group began.
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET has_exclusions = false WHERE parent_delivery_id IN (\(sales), \(receipts))"
        )
        #expect(await fixture.refusal(sales, .subscription(member)) == nil)
        try await fixture.sql("SELECT pushmta_engine.maintain_continuous_deliveries(100)")
        #expect(await fixture.refusal(sales, .subscription(member)) == "PM064")
        #expect(await fixture.refusal(receipts, .subscription(member)) == nil)
    }

    @Test("Members get no more messages of a continuous delivery whose category is no longer transactional")
    func category() async throws {
        let (fixture, _) = try await StoreFixture.continuous(users: Int64(Self.users))
        try await fixture.store.setControlGroup(ofService: "shop", percent: 50, categories: nil)
        try await fixture.store.setCategory("receipts", service: "shop", isTransactional: true)
        let receipts = try await fixture.startContinuous { $0.category = "receipts" }
        let member = try required(
            try await fixture.sql(
                "SELECT min(s.id) FROM pushmta_engine.subscription s WHERE s.user_key <> '' AND \(Self.memberCondition)"
            )
        )
        #expect(await fixture.refusal(receipts, .subscription(member)) == nil)
        try await fixture.store.setCategory("receipts", service: "shop", isTransactional: false)
        #expect(await fixture.refusal(receipts, .subscription(member)) == "PM064")
    }

    @Test("What users did is compared: members against all others, once a user and day")
    func results() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        #expect(try await store.controlResults(ofService: "shop", days: 28).isEmpty)
        for user in 0..<Self.users {
            for repeated in [false, true] {
                let counts = try await store.recordUserConversion(
                    service: "shop",
                    userKey: "user-\(user)",
                    name: "order",
                    value: 12.5
                )
                #expect(counts == !repeated)
            }
        }
        #expect(try await !store.recordUserConversion(service: "shop", userKey: "nobody", name: "order", value: nil))
        await #expect(throws: StoreError.self) {
            _ = try await store.recordUserConversion(service: "shop", userKey: "", name: "order", value: nil)
        }
        let uncounted = try required(try await store.controlResults(ofService: "shop", days: 28).first)
        #expect(uncounted.members == nil && uncounted.difference.contains("too few"))
        #expect(try await fixture.sql("SELECT pushmta_engine.count_control_group()") == Int64(Self.users))
        #expect(try await fixture.sql("SELECT pushmta_engine.count_control_group()") == 0)
        let members = try await members(fixture) / 2
        let result = try required(try await store.controlResults(ofService: "shop", days: 28).first)
        #expect(result.name == "order" && result.members == members && result.others == Int64(Self.users) - members)
        #expect(result.convertedMembers == members && result.convertedOthers == Int64(Self.users) - members)
        let row = try required(try await store.controlGroups().first)
        #expect(row.persons == Int64(Self.users) && row.members == members)
        // A person who is forgotten leaves nothing, and other members make a new comparison.
        try await fixture.sql("SELECT count(*) FROM pushmta.forget_user('shop', 'user-1')")
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.user_conversion") == Int64(Self.users) - 1)
        try await store.setControlGroup(ofService: "shop", percent: 20, categories: nil)
        try await fixture.sql("UPDATE pushmta_engine.user_conversion SET recorded_at = now() - interval '1 hour'")
        #expect(try await store.controlResults(ofService: "shop", days: 28).isEmpty)
        #expect(
            try await fixture.sql("SELECT pushmta_engine.purge_user_conversions(current_date + 2, 1000)")
                == Int64(Self.users) - 1
        )
    }
}
