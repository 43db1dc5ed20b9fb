import Administration
import Crypto
import Foundation
import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Pages of services, applications, accounts and credentials, with a real database.
@Suite struct ApplicationTests {
    private static let hostile = #"<script>alert(1)</script>'&{{title}}<img src=x onerror=alert(1)>"#
    private static let path = "/services/applications/1"

    /// The fields of the form for a pair.
    private func pair(_ name: String = "app", _ change: [String: String] = [:]) -> [String: String] {
        [
            "service": "shop", "name": name, "bundle": "com.shop.app", "format": "uuid", "account": "apns",
            "sandbox_account": "",
        ].merging(change) { _, new in new }
    }

    private func audit(_ site: ConsoleSite, _ condition: String) async throws -> Int64 {
        Int64(try await site.value("SELECT count(*) FROM pushmta_engine.audit_log a WHERE \(condition)")) ?? -1
    }

    @Test func thePairOfIOSIsDeclaredInOneStep() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        let form = try await admin.get("/services/ios-pair?service=shop").text
        #expect(form.contains("Add an iOS pair") && form.contains("value=\"shop\" selected"))
        let made = try await admin.post("/services/ios-pair", form: pair())
        #expect(made.status == .seeOther && made.headers[.location] == "/services?done=pair", "\(made.text)")
        let rows = try await site.admin.applications().filter { $0.name.hasPrefix("app") }
        #expect(rows.map(\.name) == ["app", "app-sandbox"])
        #expect(rows.map(\.environment) == [.production, .sandbox])
        #expect(Set(rows.map(\.integrationKey)).count == 2 && rows.allSatisfy { $0.integrationKey.count == 36 })
        #expect(rows.allSatisfy { $0.bundleID == "com.shop.app" && $0.messageIDFormat == .uuid })
        #expect(rows[0].accountID != nil && rows[1].accountID == nil)
        let list = try await admin.get("/services?done=pair").text
        #expect(list.contains("app-sandbox") && list.contains("no account") && list.contains("role=\"status\""))
        #expect(try await audit(site, "a.action = 'application.add' AND a.who = 'admin'") == 2)
        // An app in use keeps its integration keys.
        let keys = try await admin.post(
            "/services/ios-pair",
            form: pair("used", ["key": "old-one", "sandbox_key": "old-two"])
        )
        #expect(keys.status == .seeOther, "\(keys.text)")
        let used = try await site.admin.applications().filter { $0.name.hasPrefix("used") }
        #expect(used.map(\.integrationKey) == ["old-one", "old-two"])
        // No half of a pair is created alone: the other half's name is taken, so the first one is not created either.
        try await site.sql("UPDATE pushmta_engine.application SET name = 'late-sandbox' WHERE name = 'app-sandbox'")
        let half = try await admin.post("/services/ios-pair", form: pair("late"))
        #expect(half.status == .unprocessableContent && half.text.contains("late-sandbox"), "\(half.text)")
        #expect(half.text.contains("value=\"late\"") && half.text.contains("role=\"alert\""))
        #expect(try await site.admin.applications().contains { $0.name == "late" } == false)
        #expect(try await audit(site, "a.action = 'application.add'") == 4)
        await site.close()
    }

    @Test func whatCannotBeIsRefusedAtTheForm() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        let before = try await site.admin.applications().count
        for (change, words) in [
            (["format": ""], "Choose int32 or uuid"), (["format": "text"], "Choose int32 or uuid"),
            (["bundle": "no bundle"], "bundle"), (["bundle": ""], "bundle"), (["service": "none"], "no service"),
            (["account": "none"], "none"), (["name": ""], "name"), (["name": "a\u{0007}b"], "name"),
            (["name": "shop-ios"], "already"),
            (["key": "k-1", "sandbox_key": "k-1"], "integration key already exists"),
            (["sandbox_account": "apns-own"], "sandbox"),
        ] {
            if change["sandbox_account"] != nil {
                try await site.admin.createAccount(
                    name: "apns-own",
                    connector: .iosHTTP2,
                    host: "api.push.apple.com",
                    port: 443
                )
            }
            let answer = try await admin.post("/services/ios-pair", form: pair("new", change))
            #expect(answer.status == .unprocessableContent, "\(change): \(answer.status)")
            #expect(answer.text.localizedCaseInsensitiveContains(words), "\(change): \(answer.text)")
        }
        #expect(try await site.admin.applications().count == before)
        let android = ["service": "shop", "name": "droid", "bundle": "com.shop", "format": "int32", "account": "apns"]
        let wrong = try await admin.post("/services/android", form: android)
        #expect(wrong.status == .unprocessableContent && wrong.text.contains("apns"), "\(wrong.text)")
        let own = ["account": "", "key": "own-key"]
        let right = try await admin.post("/services/android", form: android.merging(own) { $1 })
        let location = try #require(right.headers[.location])
        #expect(location.hasSuffix("?done=made"))
        let page = try await admin.get(location).text
        #expect(page.contains("own-key") && page.contains("campaignclassic.android.integrationKey"))
        #expect(page.contains("It has no external account") && page.contains("chooses one with “Change”"))
        #expect(!page.contains("pushmta app set"))
        await site.close()
    }

    @Test func twoWhoDeclareTheSameGetOne() async throws {
        let site = try await ConsoleSite.start()
        let (ada, bob) = (try await site.session(.admin, name: "ada"), try await site.session(.admin, name: "bob"))
        async let first = ada.post("/services/ios-pair", form: pair("twice"))
        async let second = bob.post("/services/ios-pair", form: pair("twice"))
        let statuses = [try await first.status, try await second.status].sorted { $0.code < $1.code }
        #expect(statuses == [.seeOther, .unprocessableContent])
        #expect(try await site.admin.applications().count { $0.name.hasPrefix("twice") } == 2)
        let service = ["name": "other", "label": "Other"]
        #expect(
            try await ada.post("/services/new", form: service).headers[.location]?.hasPrefix(
                "/services?done=service&added="
            ) == true
        )
        let again = try await bob.post("/services/new", form: service)
        #expect(again.status == .unprocessableContent && again.text.contains("already"))
        #expect(try await audit(site, "a.action = 'service.add' AND a.subject = 'other' AND a.who = 'ada'") == 1)
        await site.close()
    }

    @Test func aCopyHasWhatTheOriginalDeclares() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql(
            """
            UPDATE pushmta_engine.application SET variables = '[{"name": "city", "type": "text"}]',
                sounds = '[{"name": "bell.caf"}]', icon = decode('89504e470d0a1a0a', 'hex') WHERE id = 1
            """
        )
        let admin = try await site.session(.admin)
        let form = try await admin.get(Self.path + "/copy").text
        #expect(form.contains("com.shop") && form.contains("value=\"uuid\" selected"))
        let made = try await admin.post(
            Self.path + "/copy",
            form: pair("copy", ["environment": "sandbox", "account": "", "key": ""])
        )
        let location = try #require(made.headers[.location], "\(made.text)")
        let page = try await admin.get(location).text
        for words in ["city", "bell.caf", "sandbox", "/icon", "It has no credential", "The application is declared"] {
            #expect(page.contains(words), "\(words)")
        }
        let copy = try #require(try await site.admin.applications().first { $0.name == "copy" })
        let icon = try await admin.get("/services/applications/\(copy.id)/icon")
        #expect(icon.status == .ok && icon.headers[.contentType] == "image/png")
        #expect(copy.integrationKey != "ios-key" && copy.credentialID == nil)
        #expect(try await audit(site, "a.action = 'application.copy' AND a.detail LIKE '%shop-ios%'") == 1)
        // Declarations of another platform do not apply.
        #expect(try await admin.post("/services/applications/99/copy", form: pair("x")).status == .notFound)
        await site.close()
    }

    @Test func accountsAreDeclaredWithTheGatewaysOwnAddress() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        let path = "/services/accounts/new"
        let sandbox = ["name": "sand", "connector": "ios-http2", "environment": "sandbox", "host": "", "port": ""]
        #expect(
            try await admin.post(path, form: sandbox).headers[.location]?.hasPrefix(
                "/services/accounts?done=account&added="
            ) == true
        )
        let fcm = ["name": "fcm", "connector": "android-v2", "environment": "sandbox", "host": "", "port": ""]
        #expect(try await admin.post(path, form: fcm).status == .seeOther)
        let script = ["url": "https://campaign.example.com/nms/jsp/androidPushConnector.js", "ca_file": "/etc/ca.pem"]
        let named = sandbox.merging(["name": "script", "environment": "production"]) { $1 }.merging(script) { $1 }
        #expect(try await admin.post(path, form: named).status == .seeOther)
        let made = try await site.admin.account(named: "script")
        #expect(made.connector == .androidV1 && made.options == #"{"ca_file": "/etc/ca.pem"}"#)
        let accounts = try await site.admin.accounts()
        #expect(accounts.first { $0.name == "sand" }?.host == "api.sandbox.push.apple.com")
        #expect(accounts.first { $0.name == "fcm" }?.host == "fcm.googleapis.com")
        for (change, words) in [
            (["connector": "smtp"], "Choose one from the list"), (["connector": "ios-binary"], "31 March 2021"),
            (["host": "a b"], "host"), (["port": "70000"], "1 to 65535"), (["port": "x"], "1 to 65535"),
            (["host": "fcm.googleapis.com"], "android"), (["port": "444"], "listens on"), (["name": "sand"], "already"),
            (["host": "<b>.example.com"], "host"), (["url": "https://localhost/x.jsp"], "not an access URL"),
            (["ca_file": "ca.pem"], "not the absolute path"),
        ] {
            let form = sandbox.merging(["name": "new"]) { $1 }.merging(change) { $1 }
            let answer = try await admin.post(path, form: form)
            #expect(answer.status == .unprocessableContent, "\(change)")
            #expect(answer.text.localizedCaseInsensitiveContains(words), "\(change): \(answer.text)")
            #expect(!answer.text.contains("<b>"))
        }
        #expect(try await site.admin.accounts().count == 4)
        let list = try await site.session(.read).get("/services/accounts").text
        #expect(list.contains("APNs over HTTP/2") && list.contains("api.sandbox.push.apple.com:443"))
        #expect(!list.contains("/accounts/new"))
        await site.close()
    }

    @Test func namesOfOthersAreTextOnThesePages() async throws {
        let site = try await ConsoleSite.start()
        let name = String(Self.hostile.prefix(190))
        try await site.sql(
            """
            UPDATE pushmta_engine.service SET name = $$\(name)$$, label = $$\(name)2$$;
            UPDATE pushmta_engine.external_account SET name = $$\(name)$$;
            UPDATE pushmta_engine.application SET name = $$\(name)$$, label = $$\(name)2$$, integration_key = $$\(name)$$,
                variables = jsonb_build_array(jsonb_build_object('name', 'city', 'type', 'text', 'label', $$\(name)$$));
            INSERT INTO pushmta_engine.application_health (application_id, state, reason, remedy, opened_at, next_probe_at)
            VALUES (1, 'open', $$\(name)$$, $$\(name)$$, now(), now() + interval '1 hour');
            """
        )
        let admin = try await site.session(.admin)
        let paths = [
            "/services", "/services/accounts", "/services/ios-pair", "/services/android", Self.path,
            Self.path + "/copy",
            Self.path + "/credential", Self.path + "/resume", Self.path + "/test",
        ]
        for path in paths {
            let page = try await admin.get(path)
            #expect(page.status == .ok, "\(path)")
            #expect(!page.text.contains("<script>") && !page.text.contains("<img src=x"), "\(path)")
        }
        let page = try await admin.get(Self.path).text
        #expect(page.contains("Its circuit is open") && page.contains("&lt;script&gt;"))
        await site.close()
    }

    @Test func rolesSeeAndDoWhatTheyMay() async throws {
        let site = try await ConsoleSite.start()
        let links = ["/resume", "/test", "/credential", "/copy"].map { "href=\"\(Self.path)\($0)\"" }
        for (role, seen) in [(ConsoleRole.read, 0), (.marketing, 0), (.operate, 2), (.admin, 4)] {
            let browser = try await site.session(role)
            let page = try await browser.get(Self.path)
            #expect(page.status == .ok && page.text.contains("ios-key"))
            #expect(links.count { page.text.contains($0) } == seen, "\(role)")
            #expect(try await browser.get("/services").text.contains("/services/new") == (role == .admin))
        }
        await site.close()
    }

    @Test func anOperatorClosesACircuitOnRecord() async throws {
        let site = try await ConsoleSite.start()
        try await site.sql(
            """
            INSERT INTO pushmta_engine.application_health
                (application_id, state, reason, remedy, opened_at, next_probe_at, token_effects_held)
            VALUES (1, 'open', 'BadDeviceToken', 'look at the environment; or run pushmta app resume', now(),
                now() + interval '1 hour', true)
            """
        )
        let oda = try await site.session(.operate)
        let page = try await oda.get(Self.path).text
        #expect(
            page.contains("Its circuit is open") && page.contains("BadDeviceToken")
                && page.contains("look at the environment")
        )
        #expect(!page.contains("pushmta app resume"))
        #expect(try await oda.get(Self.path + "/resume").text.contains("name=\"believe\""))
        let done = try await oda.post(Self.path + "/resume", form: ["believe": "yes"])
        #expect(done.headers[.location] == Self.path + "?done=resumed")
        #expect(try await !oda.get(Self.path).text.contains("Its circuit is open"))
        #expect(try await site.admin.applicationHealth(1)?.state == .closed)
        #expect(
            try await audit(
                site,
                "a.action = 'application.resume' AND a.who = 'operate' AND a.subject = 'shop-ios' AND a.detail LIKE '%believed%'"
            ) == 1
        )
        #expect(try await oda.post("/services/applications/99/resume").status == .notFound)
        await site.close()
    }
}

/// Uploads of credentials, and test pushes.
@Suite struct UploadTests {
    private static let path = "/services/applications/1"
    private static let passphrase = "open sesame"
    /// A certificate of com.shop for both environments with its private key, valid from 2020 to 2120, made for this
    /// test.
    private static let certificate = """
        MIID/AIBAzCCA7IGCSqGSIb3DQEHAaCCA6MEggOfMIIDmzCCAlIGCSqGSIb3DQEHBqCCAkMwggI/AgEAMIICOAYJKoZIhvcNAQcBMFcGCSqGSI
        b3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhIuImh1/gbrwICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEFfsTA7WKgO7CC/BgTSVypiA
        ggHQHXdnqNysUxcX8I16olz4KaJPsNsrzD6csNCdAB23fZB0+92lO7dJktmRQ6TeTqQUOXD8JsXWwCjwgnupA+Q9qwlsJ/xkjeLMhUUeEE0MaQ
        GYbKS1COoG26kvup5lNQ1cJ8hnbkJjYux6SvwJgFNsSkdNj7r4Cbv1k4xie+mmr7qCJyZ+hh44vh9PNdyUf+6u5irvmhCw8snTmD8y1ZxqkHXT
        CD1H4hW0Tus52Ey+X5BVNI01TrryqCBFaBjSCuB+FPK7fLWralehqsnfy6lKeSkg5X+30GQcN5JYB1xeMhKUm6ca5zbnc8hBC8I2e7UJJLHAPh
        fkIy2P00wmgavm0Q0lhhK/W6c5tJtjnBv1sy2P46u3dRn03KBzvJkBnzUITCCMF3z260xIAnZdYo+XDxulbR2AMNta4YHZwd37rHVJNnxvp4nl
        v81S+k2+Rfm9kFxXwIORavvPEX8Zh2LWIZu43HqDSmG1ciy3UP7D0TGys9tqZApsESpM13cSr8z4ed09ZmBoyUEyYZpJndv2dpOBnhVgHOZITA
        IhW2wMYt6pg+9AajILvoU8o0eFfuN0M9ICbKHKd247CRAbsPAY/pErjEP2W7igQL1b6ixnaJcwggFBBgkqhkiG9w0BBwGgggEyBIIBLjCCASow
        ggEmBgsqhkiG9w0BDAoBAqCB7zCB7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIa40xPf7OTloCAggAMAwGCCqGSIb3DQIJBQAwHQ
        YJYIZIAWUDBAEqBBAAzY6ZoaeZzSvU3g+NTSugBIGQqTV+V4s9Nj0WShbyfZBxPRB6KOPk0yNfliKKuT0d0YRjQnzPjU2zJM5pHpB/d6odx6dT
        R022GkjY9GJ6MqzlBHxZ6C29Dx22KyVphiMfu0+J3rW02Ma0y6G9QCPHun8kV0J190dfTEaSAJ5akCRB2RIAFp+miEPDuiGZT6avuRRTmhAcnY
        iwTMuNtCUOy4F6MSUwIwYJKoZIhvcNAQkVMRYEFJtyBjDBQ5uIACzmWFnT4lJ6sqEsMEEwMTANBglghkgBZQMEAgEFAAQgeEpzTGTN4Khsw2Yh
        5koIMmwpcooaToDLXLJ5qkWlwdEECN5u3MF0ma99AgIIAA==
        """

    /// A new key in the form of Apple's file.
    private static func key() -> String { P256.Signing.PrivateKey().pemRepresentation }

    private func site() async throws -> ConsoleSite {
        let site = try await ConsoleSite.start()
        try CredentialKeyFile.create(at: site.keyFile)
        return site
    }

    private func credential(_ site: ConsoleSite) async throws -> CredentialFacts? {
        guard let id = try await site.admin.application(named: "shop-ios").credentialID else { return nil }
        return try await site.admin.credentialFacts(id)
    }

    /// The audit log.
    private func words(_ site: ConsoleSite) async throws -> String {
        try await site.value("SELECT string_agg(to_jsonb(a)::text, ' ') FROM pushmta_engine.audit_log a")
    }

    @Test func aKeyIsSealedAndNeverShownAgain() async throws {
        let site = try await site()
        let admin = try await site.session(.admin)
        let pem = Self.key()
        let secret = try #require(pem.split(separator: "\n").dropFirst().first)
        let form = ["material": pem, "key_id": "ABC123DEFG", "team_id": "TEAM123456", "passphrase": ""]
        let answer = try await admin.post(Self.path + "/credential", form: form)
        #expect(answer.headers[.location] == Self.path + "?done=credential", "\(answer.text)")
        let facts = try #require(try await credential(site))
        #expect(facts.kind == .apnsKey && facts.attributes == ["key_id": "ABC123DEFG", "team_id": "TEAM123456"])
        let page = try await admin.get(Self.path + "?done=credential").text
        #expect(page.contains("ABC123DEFG") && page.contains("APNs key (.p8)") && page.contains("sealed and stored"))
        #expect(page.contains(String(facts.fingerprint.prefix(16))) && !page.contains(secret))
        #expect(try await !admin.get(Self.path + "/credential").text.contains(secret))
        let audit = try await words(site)
        #expect(audit.contains("credential.set") && !audit.contains(secret) && !audit.contains(facts.fingerprint))
        // The stored credential can be opened with the key file, and holds what was uploaded.
        let row = try await site.admin.credential(application: 1)
        var settings = Settings()
        settings.credentialKeyFile = site.keyFile
        let opened = try CredentialKeyFile.keyring(settings)
            .open(row.sealed, keyID: row.sealKeyID, credentialID: row.id)
        #expect(String(decoding: opened, as: UTF8.self).contains(secret))
        await site.close()
    }

    @Test func aCertificateComesAsBase64() async throws {
        let site = try await site()
        let admin = try await site.session(.admin)
        let form = ["material": Self.certificate, "passphrase": Self.passphrase, "key_id": "", "team_id": ""]
        let answer = try await admin.post(Self.path + "/credential", form: form)
        #expect(answer.status == .seeOther, "\(answer.text)")
        let facts = try #require(try await credential(site))
        #expect(facts.kind == .apnsCertificate && facts.attributes["topics"] == "com.shop")
        let page = try await admin.get(Self.path).text
        #expect(page.contains("expires on 2120-01-01") && page.contains("com.shop"))
        #expect(try await !words(site).contains(Self.passphrase))
        // The same certificate for the other environment is probably a mistake: nothing in it says that Apple issued it
        // for both.
        try await site.admin.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-sandbox",
                platform: .ios,
                environment: .sandbox,
                integrationKey: "other-key",
                bundleID: "com.shop"
            )
        )
        let other = try await site.admin.application(named: "shop-sandbox").id
        for both in ["", "yes"] {
            let path = "/services/applications/\(other)/credential"
            let refused = try await admin.post(path, form: form.merging(["both": both]) { $1 })
            #expect(refused.status == .unprocessableContent, "\(both)")
            #expect(refused.text.contains(both.isEmpty ? "do not share a certificate" : "for each environment"))
        }
        #expect(try await site.admin.application(named: "shop-sandbox").credentialID == nil)
        await site.close()
    }

    @Test func whatIsNoCredentialIsRefusedWithoutASecretInTheWords() async throws {
        let site = try await site()
        let admin = try await site.session(.admin)
        let key = Self.key()
        let body = key.split(separator: "\n").dropFirst().dropLast().joined()
        let ids = ["key_id": "ABC123DEFG", "team_id": "TEAM123456"]
        let broken = "-----BEGIN PRIVATE KEY-----\n" + String(body.reversed()) + "\n-----END PRIVATE KEY-----\n"
        let wrongPassphrase = "super secret words"
        let cases: [([String: String], String)] = [
            (["material": ""], "choose a file"), (["material": key], "key’s id and the team’s id"),
            (ids.merging(["material": broken]) { $1 }, "What was uploaded"),
            (ids.merging(["material": "AIzaSyA-a-project-key-of-Google-0123456789"]) { $1 }, "takes Apple"),
            (ids.merging(["material": "{\"private_key\": \"\(body)\"}"]) { $1 }, "takes Apple"),
            // Google's file also has a private key, but needs none of Apple's ids.
            (["material": "{\"private_key\": \"-----BEGIN PRIVATE KEY-----\"}"], "takes Apple"),
            (ids.merging(["material": String(key.dropFirst(28))]) { $1 }, "What was uploaded"),
            (ids.merging(["material": key.replacing("\n", with: "\\n")]) { $1 }, "written as"),
            (["material": key, "key_id": "abc123defg", "team_id": "TEAM123456"], "lower-case letters"),
            (["material": Self.certificate, "passphrase": wrongPassphrase], "passphrase"),
            (["material": Self.certificate, "passphrase": ""], "passphrase"),
            (["material": String(Self.certificate.prefix(600)), "passphrase": Self.passphrase], "What was uploaded"),
            (["material": "nothing of all that"], "What was uploaded"),
        ]
        for (form, words) in cases {
            let answer = try await admin.post(Self.path + "/credential", form: form)
            #expect(answer.status == .unprocessableContent, "\(words): \(answer.status)")
            #expect(answer.text.localizedCaseInsensitiveContains(words), "\(words): \(answer.text)")
            for secret in [body, String(body.prefix(40)), wrongPassphrase, Self.passphrase, "AIzaSyA"] {
                #expect(!answer.text.contains(secret), "\(words)")
            }
        }
        #expect(try await credential(site) == nil)
        #expect(try await !words(site).contains("credential.set"))
        let huge = try await admin.post(
            Self.path + "/credential",
            form: ids.merging(["material": String(repeating: "A", count: 300_000)]) { $1 }
        )
        #expect(
            huge.status == .contentTooLarge && huge.text.contains("longer than this page accepts"),
            "\(huge.status)"
        )
        await site.close()
    }

    @Test func withoutAKeyTheFormSaysWhereToUpload() async throws {
        let site = try await ConsoleSite.start()
        let admin = try await site.session(.admin)
        let page = try await admin.get(Self.path + "/credential").text
        #expect(page.contains("pushmta credential set") && !page.contains("<textarea"))
        let form = ["material": Self.key(), "key_id": "ABC123DEFG", "team_id": "TEAM123456"]
        let answer = try await admin.post(Self.path + "/credential", form: form)
        #expect(answer.status == .unprocessableContent && answer.text.contains("no key to seal"))
        #expect(try await credential(site) == nil)
        await site.close()
    }

    @Test func aTestPushIsADeliveryOfItsOwn() async throws {
        let site = try await site()
        let oda = try await site.session(.operate)
        let path = Self.path + "/test"
        #expect(try await oda.get(path).text.contains("It has no credential"))
        let admin = try await site.session(.admin)
        let upload = ["material": Self.key(), "key_id": "ABC123DEFG", "team_id": "TEAM123456"]
        #expect(try await admin.post(Self.path + "/credential", form: upload).status == .seeOther)
        try await site.subscriptions(3)
        try await site.sql(
            """
            SELECT pushmta.add_seed(name => 'ada-phone', application => 'shop-ios', push_token => repeat('ab', 32), label => 'Ada');
            UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = 2
            """
        )
        let page = try await oda.get(path).text
        #expect(page.contains("ada-phone (Ada)") && !page.contains("abababab"))
        let form = ["seed": "ada-phone", "subscription": "", "title": "Hello “you”", "text": ""]
        let sent = try await oda.post(path, form: form)
        let location = try #require(sent.headers[.location], "\(sent.text)")
        let id = try #require(location.firstMatch(of: /deliveries\/(\d+)\?done=test/).flatMap { Int64($0.1) })
        #expect(try await oda.get(location).text.contains("The test push is on its way"))
        let progress = try await site.admin.deliveryProgress(id)
        #expect(progress.state == .pending && progress.label == "Test push: shop-ios")
        let second = try await oda.post(path, form: form.merging(["subscription": "1"]) { $1 })
        #expect(second.status == .seeOther)
        let audit = try await words(site)
        #expect(audit.contains("application.test") && audit.contains("seed address ada-phone"))
        #expect(audit.contains("subscription 1") && !audit.contains("abababab"))
        for (change, words) in [
            (["seed": ""], "no addressee"), (["seed": "none"], "no seed address"),
            (["subscription": "99"], "no subscription 99"),
            (["subscription": "x"], "digits"), (["subscription": "2"], "opted_out"), (["title": ""], "title"),
            (["title": "{{#open}}"], "open"),
        ] {
            let answer = try await oda.post(path, form: form.merging(change) { $1 })
            #expect(answer.status == .unprocessableContent, "\(change): \(answer.status)")
            #expect(answer.text.localizedCaseInsensitiveContains(words), "\(change): \(answer.text)")
        }
        // The refused attempts left nothing behind.
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.delivery") == "2")
        await site.close()
    }
}
