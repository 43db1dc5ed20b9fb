import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import MTAChild
@testable import Store

/// A database with an application for each platform, subscribers of many languages with hostile names, and a started
/// delivery with fixed ids.
struct ContentWorld {
    /// This many ids at the start are on iOS, and as many at the end are on Android.
    let perPlatform: Int
    let database: TestDatabase
    let store: Store
    let delivery: Int64

    static func make(content: String, perPlatform: Int) async throws -> ContentWorld {
        let database = try await TestDatabase.create(.migrated)
        let store = try await Store.connect(database.configuration())
        try await store.createService(name: "shop", label: "Shop")
        for (platform, connector) in [(Platform.ios, Connector.iosHTTP2), (.android, .androidV2)] {
            try await store.createAccount(name: platform.rawValue, connector: connector, host: "localhost", port: 443)
            try await store.createApplication(
                NewApplication(
                    service: "shop",
                    name: platform.rawValue,
                    platform: platform,
                    integrationKey: platform.rawValue,
                    bundleID: "com.example.shop",
                    account: platform.rawValue
                )
            )
        }
        try await run(people(perPlatform: perPlatform), database)
        try await store.createMapping(name: "crm", label: "", view: "crm.people", keyColumn: "user_key")
        try await run(
            "UPDATE pushmta_engine.service SET target_mapping_id = (SELECT id FROM pushmta_engine.target_mapping)",
            database
        )
        let delivery = try await store.createDelivery(
            NewDelivery(label: "test", applications: Platform.allCases.map(\.rawValue), content: content)
        )
        try await store.startDelivery(delivery)
        // A random key would give different message ids each time.
        try await run(
            "UPDATE pushmta_engine.tracking_key SET key = decode('000102030405060708090a0b0c0d0e0f', 'hex')",
            database
        )
        let job = try #require(
            try await store.claimDeliveriesToPrepare(host: "6f9619ff-8b86-4011-b42d-00cf4fc964ff").first
        )
        while try await !store.prepareChunk(job).done {}
        return ContentWorld(perPlatform: perPlatform, database: database, store: store, delivery: delivery)
    }

    /// All parts of an application as a child prepares them.
    func prepare(_ platform: Platform) async throws -> [PreparedPart] {
        let application = try await store.application(named: platform.rawValue)
        let account = try #require(application.accountID)
        let preparer = PartPreparer(
            store: store,
            views: ViewLoads(quick: store, slow: store, timeout: .seconds(10)),
            application: application,
            format: platform == .ios ? .apns : .fcmV1,
            clock: DatabaseClock(try await store.databaseClock()),
            sendsLost: true
        )
        var parts: [PreparedPart] = []
        while true {
            let claimed = try await store.claimParts(application: application.id, account: account, child: 1, limit: 4)
            if claimed.isEmpty { return parts }
            for part in claimed { parts.append(try await preparer.prepare(part)) }
        }
    }

    /// The preview of a subscription.
    func preview(_ id: Int64, _ platform: Platform) async throws -> MessagePreview {
        let application = try await store.application(named: platform.rawValue)
        let account = try #require(application.accountID)
        let previewer = try await MessagePreviewer.make(
            store.deliveryForPreview(delivery),
            application: application,
            account: store.account(account),
            credential: nil,
            store: store
        )
        let loaded = try await store.loadSubscription(id, previewer.fields)
        return try #require(previewer.preview(loaded, now: 0))
    }

    private static func run(_ script: String, _ database: TestDatabase) async throws {
        let connection = try await database.connect()
        try await connection.run(script: script)
        await connection.close()
    }

    /// Every 16th name has no value, and the next one counts as none, too, because it is empty.
    private static func people(perPlatform: Int) -> String {
        #"""
        CREATE FUNCTION pg_temp.name_of(n integer) RETURNS text LANGUAGE sql AS $$ SELECT (ARRAY[
            E'\U0010FFFF\uFFFF', 'Ada', E'Zoë "Z" \\ back', E'line\nbreak\ttab\rreturn', '👩‍👩‍👧‍👦🏳️‍🌈', 'שלום עולם',
            E'\u2028\u2029\u0001\u001F\u007F', '{{points}} {{#vip}} \{{', E'</script><b>&amp;''', '王小明', E'e\u0301ﬃ',
            NULL, '', repeat('x', 200), 'Bob', 'Søren'])[1 + n % 16] $$;
        INSERT INTO pushmta_engine.subscription (id, application_id, push_token, user_key, locale, recipient, parameters)
        SELECT g, a.id, CASE a.platform WHEN 'ios' THEN md5(g::text) || md5(g::text || 'b')
                ELSE md5(g::text) || ':APA91b' || md5(g::text || 'b') END,
            'user-' || g, (ARRAY['', 'en', 'fr-CA', 'de_AT', 'pt-BR', 'FR', 'pt', 'zh-Hans-CN'])[1 + n % 8],
            jsonb_strip_nulls(jsonb_build_object('firstName', pg_temp.name_of(n), 'userId', g)),
            jsonb_strip_nulls(jsonb_build_object('voucher', 'V-' || g, 'points', CASE WHEN n % 4 <> 3 THEN n END,
                'vip', CASE n % 6 WHEN 0 THEN 'true' WHEN 1 THEN '0' END, 'tier', CASE n % 3 WHEN 0 THEN 'gold "1"' END,
                'ttl', CASE WHEN n % 2 = 0 THEN 120 END,
                'items', CASE n % 2 WHEN 1 THEN '[{"name": "Hose", "price": "9 €"}, {"name": "Hut \"x\""}]'::jsonb END))
        FROM pushmta_engine.application a, generate_series(1, \#(perPlatform)) n,
            LATERAL (SELECT n + CASE a.platform WHEN 'ios' THEN 0 ELSE \#(perPlatform) END AS g) x
        ORDER BY g;
        CREATE SCHEMA crm;
        CREATE TABLE crm.person (user_key text PRIMARY KEY, city text);
        INSERT INTO crm.person SELECT 'user-' || g, (ARRAY['Lyon', 'Köln', 'Kraków "Stare"', '東京'])[1 + g % 4]
        FROM generate_series(1, \#(2 * perPlatform)) g WHERE g % 5 <> 0;
        CREATE VIEW crm.people AS SELECT * FROM crm.person;
        ANALYZE;
        """#
    }
}
