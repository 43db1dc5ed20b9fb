import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// People who register while a delivery to them is prepared, a few subscriptions at a time.
@Suite("Registrations between two chunks")
struct ChunkRegistrationTests {
    /// How the delivery selects its addressees.
    enum Kind: CaseIterable {
        case subscribers, filtered, explicit
    }

    private struct Device {
        let application: Int
        var user: Int
        var tokens: [String]
    }

    private struct World {
        let fixture: StoreFixture
        let connection: PostgresConnection
        let random: Storm
        var devices: [Device] = []
        /// Users who need not get a message, because they have lost a device.
        var exempt: Set<Int> = []

        func run(_ script: String) async throws { try await connection.run(script: script) }

        func texts(_ sql: String) async throws -> [String] {
            let rows = try await connection.execute(PostgresStatement(sql, prepare: false))
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }

        func register(_ place: Int) async throws {
            let device = devices[place]
            try await run(
                """
                SELECT pushmta_engine.register_devices(ARRAY[\(device.application)], ARRAY['\(device.tokens.last ?? "")'],
                    ARRAY['user-\(device.user)'], ARRAY['device-\(place)'], ARRAY['fr'], ARRAY[''], ARRAY[NULL::text], ARRAY[NULL::text],
                    ARRAY[NULL::text], ARRAY[NULL::text])
                """
            )
        }

        /// An action of a person.
        mutating func act(renews: Bool) async throws {
            let place = random.number(devices.count)
            switch random.number(renews ? 6 : 3) {
            case 0, 1: break
            case 2:
                let (application, user) = (random.number(2) + 1, random.number(ChunkRegistrationTests.users))
                devices.append(Device(application: application, user: user, tokens: ["new-\(devices.count)"]))
                return try await register(devices.count - 1)
            case 3: devices[place].tokens.append("renewed-\(place)-\(devices[place].tokens.count)")
            // Like after a restored backup.
            case 4: devices[place].tokens.append(devices[place].tokens[random.number(devices[place].tokens.count)])
            default:
                guard random.number(4) == 0 else { break }
                exempt.insert(devices[place].user)
                devices[place].user = random.number(ChunkRegistrationTests.users)
            }
            try await register(place)
        }
    }

    private static let users = 40

    private func world(_ seed: UInt64) async throws -> World {
        let fixture = try await StoreFixture.make()
        var world = World(
            fixture: fixture,
            connection: try await fixture.database.connect(),
            random: Storm(seed)
        )
        for place in 0..<90 {
            let application = world.random.number(2) + 1
            world.devices.append(
                Device(application: application, user: world.random.number(Self.users), tokens: ["old-\(place)"])
            )
            try await world.register(place)
        }
        // Some have older tokens, some are opted out, with every token of their device as set_opt_out does it, and each has a time of
        // its own.
        for _ in 0..<30 {
            let place = world.random.number(world.devices.count)
            world.devices[place].tokens.append("later-\(place)-\(world.devices[place].tokens.count)")
            try await world.register(place)
        }
        try await world.run(
            """
            UPDATE pushmta_engine.subscription SET opted_out = substr(device_id, 8)::integer % 11 = 0, disabled_at = disabled_at - interval '1 day',
                registered_at = now() - interval '1 day' - (id * 7919 % 101) * interval '1 minute'
            """
        )
        return world
    }

    private func start(_ kind: Kind, _ world: World) async throws -> Int64 {
        let both = ["shop-ios", "shop-android"]
        switch kind {
        case .subscribers: return try await world.fixture.startedDelivery(both, onePerUser: true)
        case .filtered: return try await world.fixture.filteredDelivery("locale = 'fr'", both, onePerUser: true)
        case .explicit:
            let id = try await world.fixture.startedDelivery(both, explicit: true, onePerUser: true)
            try await world.run(
                """
                INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, user_key, push_token)
                SELECT \(id), CASE id % 3 WHEN 0 THEN id END, CASE id % 3 WHEN 1 THEN user_key END, CASE id % 3 WHEN 2 THEN push_token END
                FROM pushmta_engine.subscription ORDER BY id * 7919 % 101, id
                """
            )
            try await world.fixture.store.startDelivery(id)
            return id
        }
    }

    @Test("Each user gets one message", arguments: Kind.allCases)
    func onePerUser(_ kind: Kind) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("registrations between chunks (\(kind)): seed \(seed)")
        var world = try await world(seed)
        let id = try await start(kind, world)
        let store = world.fixture.store
        let job = try required(try await store.claimDeliveriesToPrepare(host: world.fixture.host).first)
        // With a list, only the named ones count; here these are all.
        let eligible = Set(
            try await world.texts("SELECT DISTINCT user_key FROM pushmta_engine.subscription WHERE exclusion = 0")
        )
        while try await !store.prepareChunk(job, partSize: 5, partsPerChunk: 1).done {
            // A list names subscriptions, and no other subscription replaces one.
            for _ in 0..<world.random.number(6) { try await world.act(renews: kind != .explicit) }
        }
        let reached = try await world.texts(
            """
            SELECT s.user_key FROM pushmta.message_status m JOIN pushmta_engine.subscription s ON s.id = m.subscription_id
            WHERE m.delivery_id = \(id)
            """
        )
        #expect(reached.count == Set(reached).count, "seed \(seed): nobody gets two")
        let forgotten = eligible.subtracting(reached).subtracting(world.exempt.map { "user-\($0)" })
        #expect(forgotten.isEmpty, "seed \(seed): who was there at the start gets one")
        let counted = try await world.texts(
            """
            SELECT subscription_id::text FROM pushmta.message_status WHERE delivery_id = \(id)
            INTERSECT SELECT subscription_id::text FROM pushmta_engine.exclusion_log WHERE delivery_id = \(id) AND reason <> 'duplicate'
            """
        )
        #expect(counted.isEmpty, "seed \(seed): who gets one is not excluded")
        #expect(try await world.fixture.assertEquation(id))
        if kind == .subscribers {
            // Everyone present at the start is counted once, with a message or a reason.
            let strays = try await world.texts(
                """
                SELECT s.id::text FROM pushmta_engine.subscription s JOIN pushmta_engine.delivery_application a
                    ON a.delivery_id = \(id) AND a.application_id = s.application_id AND s.id <= a.prepare_to
                WHERE (SELECT count(*) FROM pushmta.message_status m WHERE m.delivery_id = \(id) AND m.subscription_id = s.id)
                    + (SELECT count(*) FROM pushmta_engine.exclusion_log e WHERE e.delivery_id = \(id) AND e.subscription_id = s.id) <> 1
                """
            )
            #expect(strays.isEmpty, "seed \(seed)")
        }
        await world.connection.close()
    }

    @Test("Each push token gets one message", arguments: [false, true])
    func sharedTokens(_ isExplicit: Bool) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("registrations between chunks, shared tokens: seed \(seed)")
        let fixture = try await StoreFixture.make()
        let new = NewApplication(
            service: "shop",
            name: "shop-new",
            platform: .ios,
            integrationKey: "new",
            bundleID: "com.shop",
            account: "apns"
        )
        _ = try await fixture.store.createApplication(new)
        let world = World(fixture: fixture, connection: try await fixture.database.connect(), random: Storm(seed))
        let applications = try await world.texts(
            "SELECT id::text FROM pushmta_engine.application WHERE name IN ('shop-ios', 'shop-new')"
        )
        func register(_ token: Int) async throws {
            let application = applications[world.random.number(2)]
            try await world.run(
                """
                SELECT pushmta_engine.register_devices(ARRAY[\(application)], ARRAY['token-\(token)'], ARRAY[''], ARRAY[NULL::text],
                    ARRAY[''], ARRAY[''], ARRAY[NULL::text], ARRAY[NULL::text], ARRAY[NULL::text], ARRAY[NULL::text])
                """
            )
        }
        for _ in 0..<90 { try await register(world.random.number(45)) }
        let both = ["shop-ios", "shop-new"]
        let id = try await fixture.startedDelivery(both, explicit: isExplicit)
        if isExplicit {
            try await world.run(
                "INSERT INTO pushmta.delivery_target (delivery_id, subscription_id) SELECT \(id), id FROM pushmta_engine.subscription"
            )
            try await fixture.store.startDelivery(id)
        }
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
        let tokens = Set(try await world.texts("SELECT DISTINCT push_token FROM pushmta_engine.subscription"))
        while try await !fixture.store.prepareChunk(job, partSize: 4, partsPerChunk: 1).done {
            for _ in 0..<world.random.number(6) { try await register(world.random.number(45)) }
        }
        let reached = try await world.texts(
            """
            SELECT s.push_token FROM pushmta.message_status m JOIN pushmta_engine.subscription s ON s.id = m.subscription_id
            WHERE m.delivery_id = \(id)
            """
        )
        #expect(reached.count == Set(reached).count && Set(reached) == tokens, "seed \(seed)")
        #expect(try await fixture.assertEquation(id))
        await world.connection.close()
    }
}
