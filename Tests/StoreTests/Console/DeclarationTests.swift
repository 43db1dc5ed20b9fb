import Content
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Administrators' declarations in the console")
struct DeclarationTests {
    private func expect(_ code: StoreError.Code, _ state: String? = nil, _ work: () async throws -> Void) async {
        do {
            try await work()
            Issue.record("it was not refused")
        } catch let error as StoreError {
            #expect(error.code == code && (state == nil || error.sqlState == state), "\(error)")
        } catch {
            Issue.record("\(error)")
        }
    }

    private func application(_ name: String, _ key: String, _ environment: ApplicationEnvironment = .production)
        -> NewApplication
    {
        NewApplication(
            service: "shop",
            name: name,
            platform: .ios,
            environment: environment,
            integrationKey: key,
            bundleID: "com.shop",
            account: "apns"
        )
    }

    private func credential(
        _ id: Int64,
        _ fingerprint: String,
        _ kind: CredentialKind = .apnsKey,
        _ attributes: String = #"{"key_id": "ABC"}"#
    ) -> CredentialRow {
        CredentialRow(
            id: id,
            kind: kind,
            name: "unused",
            sealKeyID: "k",
            sealed: [1, 2, 3],
            attributes: attributes,
            fingerprint: fingerprint,
            expiresAt: nil
        )
    }

    private func count(_ fixture: StoreFixture, _ table: String, _ condition: String = "true") async throws -> Int64? {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.\(table) WHERE \(condition)")
    }

    @Test("Roles: the database refuses what a role may not do, without side effects")
    func roles() async throws {
        let fixture = try await StoreFixture.make()
        let (marketing, oda) = (try await fixture.actor(.marketing), try await fixture.actor(.operate))
        let nobody = ConsoleActor(tokenHash: [UInt8](repeating: 0, count: 32), idleSeconds: 600, address: "")
        let store = fixture.store
        for (who, state) in [(nobody, "PM090"), (marketing, "PM091"), (oda, "PM091")] {
            await expect(.invalid, state) { try await store.declareService(name: "a", label: "a", by: who) }
            await expect(.invalid, state) {
                try await store.declareAccount(name: "a", connector: .iosHTTP2, host: "localhost", port: 1, by: who)
            }
            await expect(.invalid, state) { try await store.declareApplications([application("a", "a")], by: who) }
            await expect(.invalid, state) {
                try await store.changeService(
                    ServiceFacts(name: "shop", label: "a", mapping: nil, trust: .open),
                    version: 1,
                    by: who
                )
            }
            let account = try await store.account(named: "apns")
            let version = try await store.accountVersion(account.id).version
            await expect(.invalid, state) {
                try await store.changeAccount(account, version: version, messagesPerSecond: 1, by: who)
            }
            var change = ApplicationChange()
            change.label = "a"
            let other = try await store.applicationVersion(1).version
            await expect(.invalid, state) { [change] in
                try await store.changeApplication(1, change, version: other, messagesPerSecond: 1, by: who)
            }
            await expect(.invalid, state) { _ = try await store.nextCredentialID(by: who) }
            await expect(.invalid, state) {
                try await store.saveCredential(
                    credential(7, "f"),
                    application: "shop-ios",
                    allowsBothEnvironments: false,
                    by: who
                )
            }
        }
        for (who, state) in [(nobody, "PM090"), (marketing, "PM091")] {
            await expect(.invalid, state) { try await store.resumeApplication(1, believingRefusals: false, by: who) }
            await expect(.invalid, state) { _ = try await store.testAddresses(application: 1, limit: 9, by: who) }
            await expect(.invalid, state) {
                _ = try await store.sendTestPush(application: 1, content: "{}", to: .subscription(1), by: who)
            }
        }
        for (table, rows) in [("service", 1), ("application", 2), ("credential", 0), ("external_account", 2)]
            as [(String, Int64)]
        {
            #expect(try await count(fixture, table) == rows, "\(table)")
        }
        #expect(try await count(fixture, "audit_log", "action NOT LIKE 'sign_in%' AND action NOT LIKE 'user.%'") == 0)
    }

    @Test("A service, an account and applications (all or none) are declared; the list shows their states")
    func declared() async throws {
        let fixture = try await StoreFixture.make()
        let ada = try await fixture.actor(.admin)
        let store = fixture.store
        try await store.declareService(name: "bank", label: "Bank", by: ada)
        await expect(.conflict, "PM131") { try await store.declareService(name: "bank", label: "", by: ada) }
        try await store.declareAccount(name: "own", connector: .iosHTTP2, host: "localhost", port: 8_443, by: ada)
        await expect(.conflict, "PM131") {
            try await store.declareAccount(name: "own", connector: .androidV2, host: "localhost", port: 1, by: ada)
        }
        let ids = try await store.declareApplications([application("a", "a"), application("b", "b")], by: ada)
        #expect(ids.count == 2)
        // A name and a key that are already in use.
        for second in [application("a", "d"), application("d", "a")] {
            await expect(.conflict, "PM131") {
                try await store.declareApplications([application("c", "c"), second], by: ada)
            }
        }
        #expect(try await count(fixture, "application", "name IN ('c', 'd')") == 0)
        await expect(.notFound, "PM001") {
            // Android's declarations do not apply to iOS.
            try await store.declareApplications([application("c", "c")], copying: 2, by: ada)
        }
        let lines = try await store.serviceLines(after: ("", ""), limit: 10)
        #expect(lines.map(\.service) == ["bank", "shop", "shop", "shop", "shop"])
        #expect(lines.map { $0.application?.name } == [nil, "a", "b", "shop-android", "shop-ios"])
        let rest = try await store.serviceLines(after: ("shop", "a"), limit: 2)
        #expect(rest.map { $0.application?.name } == ["b", "shop-android"])
        let first = try #require(lines[1].application)
        #expect(first.account == "apns" && !first.hasCredential && first.circuit == .closed && !first.isInTrouble)
        #expect(try await store.accounts(after: "apns", platform: .ios, limit: 9).map(\.name) == ["own"])
        #expect(try await count(fixture, "audit_log", "action = 'application.add' AND who = 'admin'") == 2)
    }

    @Test(
        "A change needs the present version, and passes the command line's checks; a certificate keeps its bundle id"
    )
    func changed() async throws {
        let fixture = try await StoreFixture.make()
        let ada = try await fixture.actor(.admin)
        let store = fixture.store
        let version = try await store.applicationVersion(1).version
        var change = ApplicationChange()
        change.label = "One"
        try await store.changeApplication(1, change, version: version, messagesPerSecond: nil, by: ada)
        await expect(.conflict, "PM132") { [change] in
            try await store.changeApplication(1, change, version: version, messagesPerSecond: nil, by: ada)
        }
        // A credential uploaded meanwhile by another user counts as a change.
        let id = try await store.nextCredentialID(by: ada)
        let certificate = credential(id, "f", .apnsCertificate, #"{"topics": "com.shop"}"#)
        let before = try await store.applicationVersion(1).version
        try await store.saveCredential(certificate, application: "shop-ios", allowsBothEnvironments: true, by: ada)
        await expect(.conflict, "PM132") { [change] in
            try await store.changeApplication(1, change, version: before, messagesPerSecond: nil, by: ada)
        }
        let now = try await store.applicationVersion(1).version
        for bad in ["com.other", "not a bundle"] {
            change.bundleID = bad
            await expect(.invalid) { [change] in
                try await store.changeApplication(1, change, version: now, messagesPerSecond: nil, by: ada)
            }
        }
        change = ApplicationChange()
        change.account = "fcm"
        await expect(.invalid) { [change] in
            try await store.changeApplication(1, change, version: now, messagesPerSecond: nil, by: ada)
        }
        await expect(.invalid, "PM007") {
            try await store.changeApplication(1, ApplicationChange(), version: now, messagesPerSecond: -1, by: ada)
        }
        #expect(try await store.application(1).bundleID == "com.shop")
        #expect(try await count(fixture, "audit_log", "action = 'application.change'") == 1)
        await expect(.notFound) {
            try await store.changeApplication(99, ApplicationChange(), version: 1, messagesPerSecond: nil, by: ada)
        }
        await expect(.conflict, "PM132") {
            try await store.changeService(
                ServiceFacts(name: "shop", label: "a", mapping: nil, trust: .open),
                version: 1,
                by: ada
            )
        }
        await expect(.notFound, "PM071") {
            try await store.changeService(
                ServiceFacts(name: "none", label: "a", mapping: nil, trust: .open),
                version: 1,
                by: ada
            )
        }
    }

    @Test(
        "A rate set, raised or removed meanwhile by another user counts as a change",
        arguments: ["application", "account"]
    )
    func rates(of scope: String) async throws {
        let fixture = try await StoreFixture.make()
        let ada = try await fixture.actor(.admin)
        let store = fixture.store
        let (account, name) = (try await store.account(named: "apns"), scope == "account" ? "apns" : "shop-ios")
        func version() async throws -> (version: Int64, messagesPerSecond: Double?) {
            try await scope == "account" ? store.accountVersion(account.id) : store.applicationVersion(1)
        }
        func save(_ version: Int64, _ rate: Double?) async throws {
            if scope == "account" {
                try await store.changeAccount(account, version: version, messagesPerSecond: rate, by: ada)
            } else {
                var change = ApplicationChange()
                change.label = "shop-ios"
                try await store.changeApplication(1, change, version: version, messagesPerSecond: rate, by: ada)
            }
        }
        for rate in [100, 50, nil] as [Double?] {
            let form = try await version()
            try await store.setRate(scope, name, messagesPerSecond: rate)
            await expect(.conflict, "PM132") { try await save(form.version, form.messagesPerSecond) }
            #expect(try await version().messagesPerSecond == rate)
        }
        // A user's own change is not another user's, but it makes the earlier form outdated.
        let form = try await version().version
        try await save(form, 20)
        await expect(.conflict, "PM132") { try await save(form, nil) }
        try await save(try await version().version, 20)
        #expect(try await count(fixture, "audit_log", "action = '\(scope).change'") == 1)
    }

    @Test("The audit log has an application's changes: values before and after, and names added, changed and removed")
    func applicationWords() async throws {
        let fixture = try await StoreFixture.make()
        let ada = try await fixture.actor(.admin)
        let store = fixture.store
        func save(_ change: ApplicationChange) async throws {
            let form = try await store.applicationVersion(1)
            try await store.changeApplication(1, change, version: form.version, messagesPerSecond: nil, by: ada)
        }
        var change = ApplicationChange()
        var declared = ApplicationDeclarations()
        declared.declare(try ApplicationVariable(name: "old", type: .text, platform: .ios))
        declared.declare(try ApplicationVariable(name: "kept", type: .text, platform: .ios))
        declared.declare(try ApplicationVariable(name: "menu", type: .text, platform: .ios))
        change.declarations = declared
        try await save(change)
        var next = ApplicationDeclarations()
        next.declare(try ApplicationVariable(name: "kept", type: .text, platform: .ios))
        next.declare(try ApplicationVariable(name: "menu", type: .text, defaultValue: "a", platform: .ios))
        for place in 10..<32 {
            next.declare(try ApplicationVariable(name: "v\(place)", type: .text, platform: .ios))
        }
        next.declare(try ApplicationSound(name: "ding", label: "Ding", isSystem: true))
        change.declarations = next
        change.label = "One"
        change.bundleID = "com.other"
        change.integrationKey = "a-key-that-is-long"
        change.messageIDFormat = .int32
        try await save(change)
        let names = (10..<30).map { "v\($0)" }.joined(separator: " ")
        let words = """
            label shop-ios → One, bundle id com.shop → com.other, integration key ios-key… → a-key-th…, message ids uuid → int32, \
            variables: added \(names) and 2 more; changed menu; removed old, sounds: added ding
            """
        #expect(try await count(fixture, "audit_log", "detail = 'variables: added kept menu old'") == 1)
        #expect(try await count(fixture, "audit_log", "detail = '\(words)'") == 1)
    }

    @Test("A credential is replaced, shown without its sealed part, and not shared between environments by mistake")
    func credentials() async throws {
        let fixture = try await StoreFixture.make()
        let ada = try await fixture.actor(.admin)
        let store = fixture.store
        for fingerprint in [String(repeating: "a", count: 64), String(repeating: "b", count: 64)] {
            let id = try await store.nextCredentialID(by: ada)
            try await store.saveCredential(
                credential(id, fingerprint, .apnsCertificate),
                application: "shop-ios",
                allowsBothEnvironments: false,
                by: ada
            )
            let facts = try #require(try await store.credentialFacts(id))
            #expect(facts.fingerprint == fingerprint && facts.applications == ["shop-ios"])
            #expect(facts.attributes == ["key_id": "ABC"])
        }
        #expect(try await count(fixture, "credential") == 1, "the first one goes")
        try await store.declareApplications([application("box", "box", .sandbox)], by: ada)
        let id = try await store.nextCredentialID(by: ada)
        let same = credential(id, String(repeating: "b", count: 64), .apnsCertificate)
        await expect(.conflict, "PM130") {
            try await store.saveCredential(same, application: "box", allowsBothEnvironments: false, by: ada)
        }
        try await store.saveCredential(same, application: "box", allowsBothEnvironments: true, by: ada)
        await expect(.notFound, "PM001") {
            try await store.saveCredential(
                credential(99, "f"),
                application: "no",
                allowsBothEnvironments: true,
                by: ada
            )
        }
        #expect(try await count(fixture, "audit_log", "action = 'credential.set'") == 3)
        #expect(try await count(fixture, "audit_log", "detail LIKE '%' || repeat('b', 20) || '%'") == 0)
    }

    @Test("An operator ends the waits of an application's messages")
    func resumption() async throws {
        let fixture = try await StoreFixture.make()
        let oda = try await fixture.actor(.operate)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.application_health (application_id, state, reason, remedy, opened_at, next_probe_at)
            VALUES (1, 'open', 'InvalidProviderToken', 'set the right key', now(), now() + interval '1 hour')
            """
        )
        let before = try await fixture.store.serviceLines(after: ("", ""), limit: 9)
        #expect(before.last?.application?.circuit == .open)
        try await fixture.store.resumeApplication(1, believingRefusals: false, by: oda)
        #expect(try await fixture.store.applicationHealth(1)?.state == .closed)
        #expect(try await count(fixture, "application_health", "application_id = 1 AND resumed_at IS NOT NULL") == 1)
        #expect(try await count(fixture, "audit_log", "action = 'application.resume' AND subject = 'shop-ios'") == 1)
        await expect(.notFound, "PM001") {
            try await fixture.store.resumeApplication(99, believingRefusals: false, by: oda)
        }
    }

    @Test("A test push reaches a seed address that deliveries leave out, and no one else")
    func testPush() async throws {
        let fixture = try await StoreFixture.make()
        let ada = try await fixture.actor(.admin)
        let store = fixture.store
        try await store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.sql(
            "SELECT pushmta.add_seed(name => 'phone', application => 'shop-ios', push_token => repeat('ab', 32))"
        )
        #expect(try await store.testAddresses(application: 1, limit: 9, by: ada).map(\.name) == ["phone"])
        #expect(try await store.testAddresses(application: 2, limit: 9, by: ada).isEmpty)
        let content = #"{"ios": {"title": "a"}}"#
        await expect(.invalid, "PM114") {
            _ = try await store.sendTestPush(application: 1, content: content, to: .seed("phone"), by: ada)
        }
        let id = try await store.nextCredentialID(by: ada)
        try await store.saveCredential(
            credential(id, String(repeating: "c", count: 64)),
            application: "shop-ios",
            allowsBothEnvironments: false,
            by: ada
        )
        let delivery = try await store.sendTestPush(application: 1, content: content, to: .seed("phone"), by: ada)
        _ = try await fixture.prepare()
        let prepared = try await store.deliveryProgress(delivery)
        #expect(prepared.target == 1 && prepared.excluded == 0)
        await expect(.notFound, "PM041") {
            _ = try await store.sendTestPush(application: 2, content: content, to: .seed("phone"), by: ada)
        }
        await expect(.invalid, "PM044") {
            _ = try await store.sendTestPush(application: 1, content: content, to: .subscription(99), by: ada)
        }
        await expect(.invalid, "PM004") {
            _ = try await store.sendTestPush(application: 1, content: "no", to: .subscription(1), by: ada)
        }
        #expect(try await count(fixture, "audit_log", "action = 'application.test' AND subject = 'shop-ios'") == 1)
    }
}
