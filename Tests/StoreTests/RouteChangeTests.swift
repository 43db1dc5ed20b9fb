import Content
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Applications, their accounts and credentials together")
struct RouteChangeTests {
    private func refusal(_ body: () async throws -> Void) async -> StoreError? {
        do { try await body() } catch { return error as? StoreError }
        return nil
    }

    private func certificate(_ store: Store, _ attributes: String) async throws -> CredentialRow {
        let id = try await store.nextCredentialID()
        return CredentialRow(
            id: id,
            kind: .apnsCertificate,
            name: "c\(id)",
            sealKeyID: "k",
            sealed: [1],
            attributes: attributes,
            fingerprint: "f",
            expiresAt: nil
        )
    }

    private func application(_ name: String, _ environment: ApplicationEnvironment, account: String? = nil)
        -> NewApplication
    {
        NewApplication(
            service: "shop",
            name: name,
            platform: .ios,
            environment: environment,
            integrationKey: name,
            bundleID: "com.shop",
            account: account
        )
    }

    @Test("Concurrent declarations are all stored")
    func concurrentDeclarations() async throws {
        let fixture = try await StoreFixture.make()
        let configuration = fixture.database.configuration()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    let store = Store(configuration: configuration)
                    try await store.setApplication(name: "shop-ios", ApplicationChange()) { application, declared in
                        var declared = declared
                        declared.declare(
                            try ApplicationVariable(
                                name: "v\(number)",
                                type: .text,
                                defaultValue: nil,
                                platform: application.platform
                            )
                        )
                        return declared
                    }
                    await store.close()
                }
            }
            try await group.waitForAll()
        }
        let declared = try await fixture.store.declarations(application: "shop-ios")
        #expect(Set(declared.variables.map(\.name)) == ["v0", "v1", "v2", "v3", "v4", "v5"])
    }

    @Test("An application is created with all that belongs to it, or not at all")
    func creation() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let both = #"{"topics": "com.shop, com.shop.voip", "environments": "sandbox, production"}"#
        try await store.saveCredential(try await certificate(store, both), application: "shop-ios")
        let credential = try await certificate(store, both)
        let refused = await refusal {
            try await store.createApplication(application("twin", .sandbox), credential: credential)
        }
        #expect(refused?.code == .conflict)
        #expect(try await !store.applications().contains { $0.name == "twin" })
        var change = ApplicationChange()
        var declared = ApplicationDeclarations()
        declared.declare(try ApplicationSound(name: "chime.caf"))
        change.declarations = declared
        let made = try await store.createApplication(
            application("twin", .sandbox),
            change,
            credential: credential,
            allowsBothEnvironments: true
        )
        #expect(made.name == "twin")
        let row = try await store.application(named: "twin")
        #expect(row.credentialID == credential.id && row.sounds.contains("chime.caf"))
        let notice = try required(try await store.credentials().first { $0.id == credential.id })
        #expect(notice.topics == ["com.shop", "com.shop.voip"] && notice.environments == ["sandbox", "production"])
    }

    @Test("Bundle id, certificate, account and environment must match, whichever of them is changed")
    func fits() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.saveCredential(
            try await certificate(store, #"{"topics": "com.shop", "environments": "production"}"#),
            application: "shop-ios"
        )
        for id in ["", "com.shop ", "a b", "a\nb", "a/b", "com_shop", String(repeating: "a", count: 256)] {
            var change = ApplicationChange()
            change.bundleID = id
            #expect(await refusal { try await store.setApplication(name: "shop-ios", change) }?.code == .invalid)
        }
        var change = ApplicationChange()
        change.bundleID = "com.other"
        let topic = await refusal { try await store.setApplication(name: "shop-ios", change) }
        #expect(topic?.message.contains("may send to com.shop and its bundle id is com.other") == true)
        #expect(try await store.application(named: "shop-ios").bundleID == "com.shop", "nothing is changed")
        change.bundleID = "com_shop.app"
        try await store.setApplication(name: "shop-android", change)

        for (name, host) in [("live", "api.push.apple.com"), ("test", "api.development.push.apple.com")] {
            try await store.createAccount(name: name, connector: .iosHTTP2, host: host, port: 443)
        }
        var account = ApplicationChange()
        account.account = "test"
        #expect(await refusal { try await store.setApplication(name: "shop-ios", account) }?.code == .invalid)
        account.account = "live"
        try await store.setApplication(name: "shop-ios", account)
        #expect(
            await refusal { try await store.setAccount(name: "live", host: "API.sandbox.push.apple.com") }?.code
                == .invalid
        )
        #expect(await refusal { try await store.createApplication(application("t", .sandbox, account: "live")) } != nil)
        try await store.createApplication(application("t", .sandbox, account: "test"))
        try await store.setAccount(name: "live", host: "stand-in")
    }

    @Test("Deliveries that wait for an inactive account are reported")
    func inactive() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.seedSubscriptions(application: "shop-ios", count: 5)
        let id = try await fixture.startedDelivery()
        #expect(try await fixture.alarms("account_inactive").isEmpty)
        try await store.setAccount(name: "apns", active: false)
        let alarm = try required(try await fixture.alarms("account_inactive").first)
        #expect(alarm.fullSubject == "account apns" && alarm.remedy == "pushmta account set apns --enable-active")
        try await fixture.prepare()
        #expect(try await store.alarms(delivery: id).map(\.text) == [alarm.text])
        #expect(try await store.alarms(delivery: id + 1).isEmpty)
        // Several of them raise one alarm, because one action resolves it.
        _ = try await fixture.startedDelivery()
        _ = try await fixture.startedDelivery()
        let all = try await fixture.alarms("account_inactive")
        #expect(all.map(\.fullSubject) == ["account apns"])
        #expect(all.first?.text.contains("messages of 3 deliveries wait") == true)
        try await store.setAccount(name: "apns", active: true)
        #expect(try await fixture.alarms("account_inactive").isEmpty)
    }

    @Test("A continuous delivery waits for the same as its day")
    func inactiveDay() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await store.seedSubscriptions(application: "shop-ios", count: 1)
        let id = try await store.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "x"}}"#)
        )
        try await store.makeContinuous(id)
        try await store.startDelivery(id)
        try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.subscription s, pushmta.send_message(\(id), s.id)"
        )
        #expect(try await !store.deliveryProgress(id).standsStill)
        #expect(try await store.days(ofDelivery: id).map(\.standsStill) == [false])
        try await store.setAccount(name: "apns", active: false)
        let whole = try await store.deliveryProgress(id)
        #expect(whole.standsStill && whole.waitingReason.contains("account apns is not active"), "\(whole)")
        let day = try required(try await store.days(ofDelivery: id).first)
        #expect(day.standsStill && day.waitingReason == whole.waitingReason)
        let limits = try await store.limits(of: .delivery(id))
        let binding = limits.filter(\.binds)
        #expect(binding.map(\.limit) == ["account"] && binding.first?.subject == "shop-ios over apns", "\(limits)")
    }

    @Test("A delivery waits for a missing view of a target mapping")
    func mappingAway() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        try await fixture.sql("CREATE TABLE person (key text PRIMARY KEY, city text)")
        try await store.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
        try await store.setService(name: "shop", mapping: "m")
        try await store.seedSubscriptions(application: "shop-ios", count: 5)
        let id = try await store.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "x"}}"#)
        )
        try await store.setTarget(ofDelivery: id, DeliveryTarget(filter: "mapping.city is null"))
        try await store.startDelivery(id)
        try await fixture.sql("ALTER TABLE person RENAME TO away")
        #expect(try await store.claimDeliveriesToPrepare(host: fixture.host).first == nil)
        let waiting = try await store.deliveryProgress(id)
        #expect(waiting.state == .pending && waiting.waitingReason.contains("no view"))
        #expect(try await fixture.alarms("delivery_waiting").map(\.subject) == [String(id)])
        let row = try await store.application(named: "shop-ios")
        let fields = MessageFields(names: ["mapping.city"])
        #expect(await refusal { _ = try await store.resolve(fields, application: row) }?.code == .unavailable)
        try await fixture.sql("ALTER TABLE away RENAME TO person")
        try await fixture.endWaits()
        #expect(try await fixture.prepare().messages == 5)
        #expect(try await store.resolve(fields, application: row) != fields)
        #expect(try await fixture.alarms("delivery_waiting").isEmpty)
    }
}
