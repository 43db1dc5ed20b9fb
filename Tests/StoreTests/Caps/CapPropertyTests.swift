import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// Random deliveries, devices, ends and drops against ``CapModel``.
@Suite("Frequency caps against a plain model")
struct CapPropertyTests {
    private struct Device {
        let id: Int64
        let application: String
        let user: String
        let zone: String
    }

    @Test("Who gets a message is what a list of all messages says", .timeLimit(.minutes(5)))
    func agreesWithTheModel() async throws {
        let seed = TestRandom.seed(for: "frequencyCapsAgreeWithTheModel")
        var (left, got) = (0, 0)
        for run in 0..<3 {
            var walk = try await Walk(TestRandom(seed: seed &+ UInt64(run)))
            for _ in 0..<60 { try await walk.step() }
            (left, got) = (left + walk.left, got + walk.got)
        }
        #expect(left > 0 && got > 0, "walks in which nobody is left out, or everybody, show little")
    }

    /// One walk: a database and its model.
    private struct Walk {
        private let fixture: StoreFixture
        private var random: TestRandom
        private var model = CapModel()
        private var devices: [Device] = []
        /// Persons by user; a device without a user is a person of its own.
        private var persons: [String: Int64] = [:]
        private var forgotten: Set<String> = []
        /// The second day of the model.
        private var minute = 2_880
        /// Unix time of the model's minute 0.
        private let origin: Int64
        private(set) var left = 0
        private(set) var got = 0

        init(_ random: TestRandom) async throws {
            fixture = try await StoreFixture.make()
            self.random = random
            origin = try required(
                try await fixture.sql("SELECT extract(epoch FROM date_trunc('day', now(), 'UTC'))::bigint")
            )
            try await makeDevices()
        }

        /// Ids far apart, so that the devices of a person are in several blocks, some of one statement and some not.
        private mutating func makeDevices() async throws {
            let users = (0..<20).map { "user-\($0)" } + [""]
            let zones = CapModel.zones.keys.sorted()
            var id: Int64 = 0
            for _ in 0..<(20 + random.below(30)) {
                id += [1, 1, 1, 2, 700, 6_000, 20_000][random.below(7)]
                let user = users[random.below(users.count)]
                let zone = user.isEmpty ? zones[random.below(zones.count)] : zones[user.count % zones.count]
                let application = random.oneIn(2) ? "shop-ios" : "shop-android"
                devices.append(Device(id: id, application: application, user: user, zone: zone))
                if !user.isEmpty, persons[user] == nil { persons[user] = id }
            }
            var rest = devices[...]
            while !rest.isEmpty {
                let batch = rest.prefix(1 + random.below(6))
                rest = rest.dropFirst(batch.count)
                let rows = batch.map { device in
                    """
                    (\(device.id), (SELECT a.id FROM pushmta_engine.application a WHERE a.name = '\(device.application)'),
                        'token-\(device.id)', '\(device.user)', '\(device.zone)')
                    """
                }
                try await fixture.sql(
                    """
                    INSERT INTO pushmta_engine.subscription (id, application_id, push_token, user_key, time_zone)
                    VALUES \(rows.joined(separator: ", "))
                    """
                )
            }
        }

        private func person(_ device: Device) -> Int64 { persons[device.user] ?? device.id }

        private var reachable: [Device] { devices.filter { !forgotten.contains($0.user) } }

        mutating func step() async throws {
            switch random.below(100) {
            case ..<12: try await changeCaps()
            case ..<62: try await deliver()
            case ..<82: try await end()
            case ..<88: try await drop()
            case ..<95: try await fold()
            default: try await forget()
            }
        }

        private mutating func changeCaps() async throws {
            let name = "cap-\(random.below(3))"
            if model.caps[name] != nil, random.oneIn(3) {
                model.caps[name] = nil
                return try await fixture.store.dropFrequencyCap(name, ofService: "shop")
            }
            let unit = FrequencyCapRow.Unit.allCases[random.below(3)]
            let length =
                switch unit {
                case .hours: 1 + random.below(72)
                case .days: [1, 2, 7, 30, 180][random.below(5)]
                case .recipientDay: 1
                }
            let categories: [String]? = [nil, nil, ["marketing"], ["news", CapModel.exempt]][random.below(4)]
            let cap = FrequencyCapRow(
                service: "shop",
                name: name,
                maxMessages: Int32([1, 1, 2, 3, 5][random.below(5)]),
                unit: unit,
                length: Int32(length),
                categories: categories
            )
            model.caps[name] = cap
            try await fixture.store.setFrequencyCap(cap)
        }

        /// A delivery at a later moment, or a little before one that was planned.
        private mutating func deliver() async throws {
            // The last one is 42 days, so that a walk has sums of 64 days.
            minute += [0, 5, 60, 400, 1_440, 3_000, 5_000, 12_000, 60_000][random.below(9)]
            let delivery = CapModel.Delivery(
                minute: minute + [0, 0, 30, 300][random.below(4)],
                category: [nil, "marketing", "marketing", "news", CapModel.exempt][random.below(5)]
            )
            let isExplicit = random.oneIn(3)
            let onePerUser = !isExplicit && random.oneIn(4)
            let id = try await fixture.store.createDelivery(
                NewDelivery(
                    label: "test",
                    applications: ["shop-ios", "shop-android"],
                    content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#,
                    explicitTargets: isExplicit,
                    onePerUser: onePerUser
                )
            )
            var named = reachable
            if isExplicit {
                named = named.filter { _ in random.oneIn(2) }
                guard !named.isEmpty else { return }
                for device in named.shuffled(using: &random) {
                    try await fixture.sql(
                        "INSERT INTO pushmta.delivery_target (delivery_id, subscription_id) VALUES (\(id), \(device.id))"
                    )
                }
            }
            try await fixture.store.startDelivery(id)
            let category = delivery.category.map { "'\($0)'" } ?? "NULL"
            try await fixture.sql(
                """
                UPDATE pushmta_engine.delivery SET filter_now = \(moment(delivery.minute)), category_id = (
                    SELECT k.id FROM pushmta_engine.category k WHERE k.name = \(category)) WHERE id = \(id)
                """
            )
            model.deliveries[id] = delivery
            try await fixture.prepare(partSize: 5, partsPerChunk: 1 + random.below(4))
            try await compare(id, delivery, named, onePerUser: onePerUser)
        }

        private func moment(_ minute: Int) -> String { "to_timestamp(\(origin + Int64(minute) * 60))" }

        private mutating func compare(
            _ id: Int64,
            _ delivery: CapModel.Delivery,
            _ named: [Device],
            onePerUser: Bool
        ) async throws {
            let sent = try await ids(
                """
                SELECT u.id FROM pushmta_engine.delivery_part_target t CROSS JOIN LATERAL unnest(t.subscription_ids) u(id)
                WHERE t.delivery_id = \(id) ORDER BY 1
                """
            )
            let passing = named.filter { model.passes(person($0), zone: $0.zone, id) }
            let sentDevices = devices.filter { sent.contains($0.id) }
            if onePerUser {
                let people = passing.map(person)
                #expect(sentDevices.map(person).sorted() == Set(people).sorted())
            } else {
                #expect(sent == passing.map(\.id).sorted(), "delivery \(id), \(delivery), \(model.caps)")
                let excluded = try await fixture.sql(
                    """
                    SELECT count(*) FROM pushmta_engine.exclusion_log e WHERE e.delivery_id = \(id) AND e.reason = 'frequency_cap'
                    """
                )
                #expect(excluded == Int64(named.count - passing.count))
            }
            left += named.count - passing.count
            got += sent.count
            guard !model.caps(of: delivery).isEmpty else { return }
            for device in sentDevices { model.messages[.init(delivery: id, person: person(device)), default: 0] += 1 }
        }

        private func ids(_ sql: String) async throws -> [Int64] {
            let result = try await fixture.store.query(sql)
            return try fixture.store.all(result) { row in try row.int64() }
        }

        /// Ends some parts: their messages with rows of their own, and some with the part's rest.
        private mutating func end() async throws {
            let open = try await ids(
                "SELECT p.id FROM pushmta_engine.delivery_part p WHERE p.state <> 'done' ORDER BY 1"
            )
            let most = random.oneIn(2) ? open.count : random.below(open.count + 1)
            for part in open.prefix(most) { try await end(part: part) }
            while try await fixture.sql("SELECT pushmta_engine.count_parts(20)") ?? 0 > 0 {}
            _ = try await fixture.store.finishDeliveries()
        }

        private mutating func end(part: Int64) async throws {
            let messages = try fixture.store.all(
                try await fixture.store.query(
                    """
                    SELECT t.delivery_id, coalesce(t.sequences[u.place], t.first_sequence + u.place - 1)::integer, u.id
                    FROM pushmta_engine.delivery_part_target t
                    CROSS JOIN LATERAL unnest(t.subscription_ids) WITH ORDINALITY u(id, place) WHERE t.part_id = \(part)
                    """
                )
            ) { row in (delivery: try row.int64(), sequence: try row.int32(), device: try row.int64()) }
            // 0 ignored, 1 sent, 2 failed, 7 canceled, 8 not applicable, 9 unknown.
            let rest = [nil, nil, 0, 7, 8, 9][random.below(6)]
            var statuses: [Int] = []
            for message in messages {
                let own = [1, 1, 1, 0, 2, 7, 8, 9][random.below(8)]
                let isRest = rest != nil && random.oneIn(2)
                if !isRest {
                    statuses.append(own)
                    try await fixture.sql(
                        """
                        INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status)
                        SELECT d.id, \(message.device), \(part), \(message.sequence), d.log_day, \(own)
                        FROM pushmta_engine.delivery d WHERE d.id = \(message.delivery)
                        """
                    )
                }
                let status = isRest ? rest ?? own : own
                guard status != 1, status != 9, let device = devices.first(where: { $0.id == message.device }),
                    let count = model.messages[.init(delivery: message.delivery, person: person(device))]
                else { continue }
                model.messages[.init(delivery: message.delivery, person: person(device))] = count - 1
            }
            let counts = ["ignored": 0, "sent": 1, "failed": 2, "canceled": 7, "not_applicable": 8, "unknown": 9]
            let changes = counts.map { name, status in "\(name) = \(statuses.filter { $0 == status }.count)" }
            try await fixture.sql(
                """
                UPDATE pushmta_engine.delivery_part SET state = 'done', finished_at = now(), \(changes.joined(separator: ", ")),
                    rest_status = \(rest.map(String.init) ?? "NULL") WHERE id = \(part)
                """
            )
        }

        /// Drops what was prepared of a delivery of which nothing has ended.
        private mutating func drop() async throws {
            let whole = try await ids(
                """
                SELECT d.id FROM pushmta_engine.delivery d WHERE d.state = 'in_progress' AND NOT EXISTS (
                    SELECT FROM pushmta_engine.delivery_part p WHERE p.delivery_id = d.id AND p.state = 'done') ORDER BY 1
                """
            )
            guard !whole.isEmpty else { return }
            let id = whole[random.below(whole.count)]
            try await fixture.sql(
                """
                DO $$ BEGIN
                    PERFORM pushmta_engine.drop_preparation(\(id));
                    UPDATE pushmta_engine.delivery SET state = 'editing' WHERE id = \(id);
                END $$
                """
            )
            model.drop(id)
        }

        private mutating func fold() async throws {
            for step in ["fold_caps", "sum_caps"] {
                let call = "SELECT pushmta_engine.\(step)(\(1 + random.below(5)), \(moment(minute)))"
                while try await fixture.sql(call) ?? 0 > 0 {}
            }
        }

        private mutating func forget() async throws {
            let users = Set(reachable.map(\.user)).subtracting([""]).sorted()
            guard let user = users.randomElement(using: &random), let person = persons[user] else { return }
            try await fixture.sql("SELECT f.subscriptions FROM pushmta.forget_user('shop', '\(user)') f")
            forgotten.insert(user)
            model.forget(person)
        }
    }
}
