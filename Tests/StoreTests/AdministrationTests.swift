import PushCore
import Store
import TestSupport
import Testing

@Suite("Administration")
struct AdministrationTests {
    private static func token(_ n: Int) -> String {
        let digits = String(n, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    private static func batches(_ rows: [ImportRow]...) -> AsyncStream<[ImportRow]> {
        AsyncStream { continuation in
            for batch in rows { continuation.yield(batch) }
            continuation.finish()
        }
    }

    @Test("An import creates, updates, enables again, and moves a token to its new user")
    func importing() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let rows = (1...5).map { n in
            ImportRow(
                line: n + 1,
                pushToken: Self.token(n).uppercased(),
                userKey: "u\(n)",
                recipient: ["firstName": "Ann \"\\\t\u{1}é\n"],
                parameters: ["n": "\(n)"]
            )
        }
        let first = try await store.importSubscriptions(application: "shop-ios", rows: Self.batches(rows))
        #expect(first.created == 5 && first.updated == 0 && first.skipped == 0)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET enabled = false, quarantine_status = 2 WHERE id = 5"
        )
        var changed = rows
        changed[0].userKey = "other"
        changed[1].recipient = ["firstName": "Bob"]
        changed.append(ImportRow(line: 9, pushToken: Self.token(2), userKey: "u2", recipient: ["firstName": "Last"]))
        var options = ImportOptions()
        options.age = .now
        options.bringsBack = [.quarantined, .disabled]
        let second = try await store.importSubscriptions(
            application: "shop-ios",
            rows: Self.batches(changed),
            options: options
        )
        #expect(
            second.moved == 1 && second.updated == 3 && second.returned == [.quarantined: 1] && second.replaced == 1
        )
        #expect(second.lines == 6 && second.created == 0)
        let all = try await store.subscriptions(application: "shop-ios")
        #expect(all.count == 6 && all.filter(\.enabled).count == 5)
        #expect(all.first { $0.userKey == "u1" }?.disabledReason == "token_moved")
        #expect(all.first { $0.userKey == "u2" }?.recipient.contains("Last") == true)
        #expect(all.first { $0.userKey == "u5" }?.quarantineStatus == "valid")
        #expect(all.first { $0.userKey == "u3" }?.recipient == #"{"firstName": "Ann \"\\\t\u0001é\n"}"#)
        #expect(try await store.subscriptionCount(application: "shop-ios") == 6)
    }

    @Test("A malformed line is reported with its number but not its token, and is skipped or refused")
    func malformed() async throws {
        let fixture = try await StoreFixture.make()
        let rows = [
            ImportRow(line: 2, pushToken: Self.token(1)), ImportRow(line: 3, pushToken: "not-a-token"),
            ImportRow(line: 4, pushToken: Self.token(2), userKey: "a\u{0}b"), ImportRow(line: 5, pushToken: ""),
        ]
        var options = ImportOptions()
        options.skipsMalformed = true
        let report = try await fixture.store.importSubscriptions(
            application: "shop-ios",
            rows: Self.batches(rows),
            options: options
        )
        #expect(report.created == 1 && report.skipped == 3 && report.problems.map(\.line) == [3, 4, 5])
        #expect(!report.problems.contains { $0.description.contains("not-a-token") })
        await #expect {
            try await fixture.store.importSubscriptions(application: "shop-ios", rows: Self.batches(rows))
        } throws: {
            ($0 as? StoreError)?.message.contains("line 3") == true
        }
    }

    @Test("Seeded subscriptions look like real ones", arguments: ["shop-ios", "shop-android"])
    func seed(application: String) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: application, count: 200)
        let rows = try await fixture.store.subscriptions(application: application, limit: 500)
        #expect(rows.count == 200 && Set(rows.map(\.pushToken)).count == 200)
        let length = application == "shop-ios" ? 64 : 163
        #expect(
            rows.allSatisfy { $0.pushToken.utf8.count == length && !$0.pushToken.contains { "+/= \n".contains($0) } }
        )
        #expect(rows.allSatisfy { $0.recipient.contains("firstName") && $0.recipient.contains("city") })
    }

    @Test("A credential is sealed under its id, bound to its application, and replaced by name")
    func credentials() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        for round in 0..<2 {
            let id = try await store.nextCredentialID()
            try await store.saveCredential(
                CredentialRow(
                    id: id,
                    kind: .apnsKey,
                    name: "team",
                    sealKeyID: "k",
                    sealed: [1, 2, UInt8(round)],
                    attributes: #"{"key_id": "A"}"#,
                    fingerprint: "f",
                    expiresAt: round == 0 ? nil : DatabaseTime(microsecondsSince1970: 1_900_000_000_000_000)
                ),
                application: "shop-ios"
            )
            let stored = try await store.credential(application: 1)
            #expect(stored.id == id && stored.sealed == [1, 2, UInt8(round)] && stored.kind == .apnsKey)
            #expect(stored.expiresAt?.microsecondsSince1970 == (round == 0 ? nil : 1_900_000_000_000_000))
        }
        await #expect(throws: StoreError.self) {
            try await store.saveCredential(
                CredentialRow(
                    id: 9,
                    kind: .apnsKey,
                    name: "x",
                    sealKeyID: "k",
                    sealed: [],
                    attributes: "{}",
                    fingerprint: "",
                    expiresAt: nil
                ),
                application: "nothing"
            )
        }
    }

    @Test("Names are unique, and an error names what does not exist")
    func names() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        await #expect { try await store.createService(name: "shop", label: "") } throws: {
            ($0 as? StoreError)?.code == .conflict
        }
        await #expect {
            try await store.createAccount(name: "apns", connector: .iosHTTP2, host: "h", port: 1)
        } throws: { ($0 as? StoreError)?.code == .conflict }
        await #expect {
            try await store.createApplication(
                NewApplication(service: "shop", name: "y", platform: .android, integrationKey: "y", account: "apns")
            )
        } throws: {
            ($0 as? StoreError)?.code == .invalid
        }
        let changed = try await store.setAccount(
            name: "apns",
            host: "other",
            options: #"{"connections": 2}"#,
            active: false
        )
        #expect(
            changed.host == "other" && changed.port == 443 && !changed.active && changed.options.contains("connections")
        )
        await #expect { try await store.setAccount(name: "nothing") } throws: { ($0 as? StoreError)?.code == .notFound }
        #expect(try await store.services().map(\.name) == ["shop"])
        #expect(
            LogDay(daysSince2000: 0).description == "2000-01-01"
                && LogDay(daysSince2000: 9557).description == "2026-03-02"
        )
    }
}
