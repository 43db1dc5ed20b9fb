import Content
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Changes of accounts, services and applications")
struct ApplicationChangeTests {
    private func code(_ body: () async throws -> Void) async -> StoreError.Code? {
        do { try await body() } catch { return (error as? StoreError)?.code }
        return nil
    }

    @Test(
        "An impossible bundle id is refused",
        arguments: ["com.example.app ", "a b/../c", "com.ex\nample", "com.exämple", "a;b", ""]
    )
    func bundleIDs(_ bundleID: String) async throws {
        let fixture = try await StoreFixture.make()
        var change = ApplicationChange()
        change.bundleID = bundleID
        // The table itself refuses it from every writer, or the platform's rules do.
        await #expect(throws: (any Error).self) { _ = try await fixture.store.setApplication(name: "shop-ios", change) }
        #expect(try await fixture.store.application(named: "shop-ios").bundleID == "com.shop")
        change.bundleID = "com.shop.my_app"
        #expect(await code { _ = try await fixture.store.setApplication(name: "shop-ios", change) } == .invalid)
        #expect(try await fixture.store.setApplication(name: "shop-android", change).bundleID == "com.shop.my_app")
        guard !bundleID.isEmpty else { return }
        let new = NewApplication(
            service: "shop",
            name: "other",
            platform: .ios,
            integrationKey: "other",
            bundleID: bundleID
        )
        #expect(await code { _ = try await fixture.store.createApplication(new) } == .invalid)
    }

    @Test("An application's declarations and icon are stored, changed and removed")
    func declarations() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        #expect(try await store.declarations(application: "shop-ios") == ApplicationDeclarations())
        var declared = ApplicationDeclarations()
        declared.declare(
            try ApplicationVariable(name: "screen", type: .text, defaultValue: "it's \"x\"", platform: .ios)
        )
        declared.declare(try ApplicationSound(name: "chime.caf", label: "Chime"))
        try declared.declare(try SubscriptionParameter(name: "lang", column: "locale"))
        try declared.declare(try SubscriptionParameter(name: "customer", column: "recipient.no"))
        var change = ApplicationChange()
        change.declarations = declared
        change.label = "Shop for iOS"
        change.bundleID = "com.shop.two"
        let row = try await store.setApplication(name: "shop-ios", change)
        #expect(row.label == "Shop for iOS" && row.bundleID == "com.shop.two" && row.integrationKey == "ios-key")
        #expect(try await store.declarations(application: "shop-ios") == declared)
        #expect(row.problems(content: #"{"ios": {"variables": {"x": 1}}}"#).count == 1)
        #expect(row.completed(content: #"{"ios":{}}"#) == #"{"ios":{"variables":{"screen":"it's \"x\""}}}"#)
        #expect(try await store.icon(application: "shop-ios") == nil)
        try await fixture.sql("UPDATE pushmta_engine.application SET icon = '\\x0102' WHERE name = 'shop-ios'")
        #expect(try await store.icon(application: "shop-ios") == [1, 2])
        var removal = ApplicationChange()
        removal.removesIcon = true
        try await store.setApplication(name: "shop-ios", removal)
        #expect(try await store.icon(application: "shop-ios") == nil)
        #expect(try await store.declarations(application: "shop-ios") == declared, "what is not given stays")
        // An import follows the declarations.
        let digits = String(repeating: "ab", count: 32)
        _ = try await store.importSubscriptions(
            application: "shop-ios",
            rows: AsyncStream { continuation in
                continuation.yield([
                    ImportRow(
                        line: 2,
                        pushToken: digits,
                        userKey: "u",
                        parameters: ["lang": "fr", "customer": "7", "free": "x"]
                    )
                ])
                continuation.finish()
            }
        )
        let subscription = try required(try await store.subscriptions(service: "shop").first)
        #expect(subscription.recipient == #"{"no": "7"}"# && subscription.parameters == #"{"free": "x"}"#)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE locale = 'fr'") == 1)
        try await fixture.sql(
            #"UPDATE pushmta_engine.application SET variables = '[{"type": "new"}]' WHERE name = 'shop-ios'"#
        )
        #expect(await code { _ = try await store.declarations(application: "shop-ios") } == .invalid)
        #expect(await code { _ = try await store.declarations(application: "nothing") } == .notFound)
    }

    @Test("The format of message ids cannot change while a delivery is under way, and keys stay unique")
    func formats() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        var change = ApplicationChange()
        change.messageIDFormat = .int32
        let id = try await fixture.startedDelivery()
        #expect(await code { try await store.setApplication(name: "shop-ios", change) } == .conflict)
        try await fixture.prepare()
        #expect(await code { try await store.setApplication(name: "shop-ios", change) } == .conflict)
        #expect(await code { try await store.setApplication(name: "shop-android", change) } == nil)
        #expect(try await store.finishDeliveries() == [id])
        #expect(try await store.setApplication(name: "shop-ios", change).messageIDFormat == .int32)
        var account = ApplicationChange()
        account.account = "fcm"
        #expect(await code { try await store.setApplication(name: "shop-ios", account) } == .invalid)
        var key = ApplicationChange()
        key.integrationKey = "android-key"
        await #expect { try await store.setApplication(name: "shop-ios", key) } throws: {
            ($0 as? StoreError)?.sqlState == "PM134"
        }
    }

    @Test("An account changes its connector within its platform, and accepts only known options")
    func accounts() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let changed = try await store.setAccount(name: "apns", connector: .iosBinary, host: "stand-in", port: 2195)
        #expect(changed.connector == .iosBinary && changed.host == "stand-in" && changed.port == 2195)
        #expect(await code { try await store.setAccount(name: "apns", connector: .androidV1) } == .invalid)
        try await store.setAccount(name: "fcm", options: #"{"ca_file": "/ca.pem", "connections": 3}"#)
        let single = try await store.setAccount(name: "fcm", connector: .androidV1)
        #expect(single.options == #"{"ca_file": "/ca.pem"}"#, "it has one connection, whatever the other had")
        #expect(
            await code { try await store.setAccount(name: "fcm", options: #"{"connections": 3}"#) } == .invalid
        )
        try await store.setAccount(name: "fcm", connector: .androidV2)
        #expect(await code { try await store.setAccount(name: "fcm", options: #"{"conections": 3}"#) } == .invalid)
        #expect(
            await code {
                try await store.createAccount(
                    name: "x",
                    connector: .iosHTTP2,
                    host: "h",
                    port: 1,
                    options: #"{"a": 1}"#
                )
            } == .invalid
        )
        #expect(try await store.account(named: "fcm").connector == .androidV2)
    }

    @Test("A service has its applications by environment, for SQL too")
    func services() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ios-test",
                platform: .ios,
                environment: .sandbox,
                integrationKey: "t",
                account: "apns"
            )
        )
        #expect(try await store.applications(ofService: "shop").count == 3)
        #expect(try await store.applications(ofService: "shop", environment: .sandbox).map(\.name) == ["shop-ios-test"])
        let marketing = try await fixture.database.connect()
        try await marketing.run(script: "SET ROLE pushmta_marketing")
        let names = try await marketing.execute(
            PostgresStatement("SELECT pushmta.applications_of('shop'), pushmta.applications_of('shop', 'sandbox')")
        )
        #expect(try names.textArray(0, 0) == ["shop-android", "shop-ios"])
        #expect(try names.textArray(0, 1) == ["shop-ios-test"])
        await #expect {
            try await marketing.execute(PostgresStatement("SELECT pushmta.applications_of('nothing')"))
        } throws: { ($0 as? PostgresError)?.sqlState == "PM001" }
        let view = try await marketing.execute(PostgresStatement("SELECT type, applications FROM pushmta.service"))
        #expect(try view.text(0, 0) == "mobile_application" && view.textArray(0, 1).count == 3)
        await marketing.close()
        try await store.setService(name: "shop", label: "The shop")
        #expect(try await store.services().map(\.label) == ["The shop"])
        #expect(await code { try await store.setService(name: "nothing", label: "x") } == .notFound)
    }
}
