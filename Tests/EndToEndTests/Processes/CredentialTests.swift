import Crypto
import Foundation
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Credentials as operators set, list, test and rotate them, and the effect on deliveries.
@Suite struct CredentialTests {
    /// The options for a certificate of the simulator; its passphrase is in a file.
    private func certificate(
        _ site: DeliverySite,
        _ file: KeyPath<SimulatorReport.APNsCredentials, String?>
    ) throws -> [String] {
        let apns = site.simulator.credentials.apns
        let passphrase = site.testSite.folder + "/passphrase"
        let text = try #require(apns.certificatePassphrase) + "\n"
        try text.write(toFile: passphrase, atomically: true, encoding: .utf8)
        return ["--key", try #require(apns[keyPath: file]), "--passphrase-file", passphrase]
    }

    /// The same options with the same certificate in a file as tools of 2010 wrote it.
    private func old(_ certificate: [String], folder: String) async throws -> [String] {
        let openssl = Program(path: "/usr/bin/openssl")
        let passphrase = "file:" + certificate[3]
        let pem = folder + "/old.pem"
        let file = folder + "/old.p12"
        let open = ["pkcs12", "-nodes", "-in", certificate[1], "-passin", passphrase, "-out", pem]
        try #require(try await openssl.run(open).status == 0)
        let export = ["pkcs12", "-export", "-legacy", "-in", pem, "-passout", passphrase, "-out", file]
        try #require(try await openssl.run(export).status == 0)
        return ["--key", file] + certificate.dropFirst(2)
    }

    @discardableResult
    private func run(
        _ site: DeliverySite,
        _ words: [String],
        environment: [String: String] = [:],
        expect status: Int32 = 0
    ) async throws -> Program.Ending {
        let ending = try await Program.pushmta().run(
            words + ["--config", site.testSite.settingsFile],
            environment: environment
        )
        #expect(ending.status == status, "\(words): \(ending.output) \(ending.errors)")
        let secret = try #require(site.simulator.credentials.apns.certificatePassphrase)
        #expect(!(ending.output + ending.errors).contains(secret))
        return ending
    }

    private func alterExpiry(_ site: DeliverySite, _ application: String, days: Int) async throws {
        let row = try await site.store.application(named: application)
        let old = try await site.store.credential(application: row.id)
        let now = try await site.store.databaseClock().microsecondsSince1970
        let id = try await site.store.nextCredentialID()
        let keys = try CredentialKeyFile.keyring(site.settings)
        let material = try keys.open(old.sealed, keyID: old.sealKeyID, credentialID: old.id)
        let new = CredentialRow(
            id: id,
            kind: old.kind,
            name: "altered-\(id)",
            sealKeyID: keys.current.keyID,
            sealed: try keys.current.seal(material, credentialID: id),
            attributes: old.attributes,
            fingerprint: old.fingerprint,
            expiresAt: DatabaseTime(microsecondsSince1970: now + Int64(days) * 86_400_000_000 + 3_600_000_000)
        )
        try await site.store.saveCredential(new, application: application)
    }

    @Test func aCertificateIsSetListedTriedAndSends() async throws {
        try await DeliverySite.with { site in
            let name = try await site.add("certified", account: site.application)
            let set = try await run(site, ["credential", "set", name] + certificate(site, \.certificateFile))
            #expect(set.output.contains("expires in 364 days"))
            let rows = try await run(site, ["credential", "list", "--json"]).rows()
            let row = try #require(rows.first { ($0["applications"] as? String) == name })
            #expect(
                Set(row.keys) == ["id", "applications", "kind", "fingerprint", "expires_at", "days_left", "key_id"]
            )
            #expect(row["kind"] as? String == "apns_certificate")
            #expect((row["fingerprint"] as? String)?.count == 64)
            #expect(row["days_left"] as? Int == 364)
            #expect(try await run(site, ["doctor"]).output.contains("an APNs certificate (.p12) can be opened"))

            let token = String(repeating: "ab", count: 32)
            for words in [[], ["--token", token], ["--token", token, "--alert", "Hello \"you\""]] {
                let steps = try await run(site, ["app", "test", name, "--json"] + words).rows()
                #expect(steps.map { $0["step"] as? String } == ["credential", "connection", "message"])
                #expect(steps.allSatisfy { $0["result"] as? String == "ok" })
            }
            try await SimulatorControl(site.simulator).post(
                "/devices",
                #"{"tokens":["\#(token)"],"state":"Unregistered"}"#
            )
            let gone = try await run(site, ["app", "test", name, "--token", token], expect: 1)
            #expect(gone.output.contains("410 Unregistered"))

            let id = try await site.send(to: name)
            #expect(try await site.progress(id).sent == 20)
            try await SimulatorControl(site.simulator).post("/credentials", #"{"gateway":"apns","revoked":true}"#)
            let revoked = try await run(site, ["app", "test", name], expect: 1)
            #expect(revoked.output.contains("BadCertificate"))
            let key = try await run(site, ["app", "test", site.application], expect: 1)
            #expect(key.output.contains("InvalidProviderToken"))
        }
    }

    @Test func whatCannotBeUsedIsRefusedWithItsReason() async throws {
        try await DeliverySite.with { site in
            let name = try await site.add("certified", account: site.application)
            let set = ["credential", "set", name]
            let wrong = try certificate(site, \.certificateFile).dropLast(2) + ["--passphrase-file", "/dev/null"]
            #expect(try await run(site, set + wrong, expect: 65).errors.contains("none was given"))
            let variable = ["PUSHMTA_CREDENTIAL_PASSPHRASE": "something else"]
            let file = Array(try certificate(site, \.certificateFile).prefix(2))
            let other = try await run(site, set + file, environment: variable, expect: 65)
            #expect(other.errors.contains("passphrase is not the one"))
            let expired = try await run(site, set + certificate(site, \.expiredCertificateFile), expect: 65)
            #expect(expired.errors.contains("has expired on"))
            let sandbox = try await run(site, set + certificate(site, \.otherCertificateFile), expect: 65)
            #expect(sandbox.errors.contains("for the sandbox environment and the application is of the production one"))
            let old = try await old(try certificate(site, \.certificateFile), folder: site.testSite.folder)
            let noModules = ["OPENSSL_MODULES": site.testSite.folder]
            let noLegacy = try await run(site, set + old, environment: noModules, expect: 65)
            #expect(noLegacy.errors.contains("OpenSSL has in its legacy provider only"))
            let account = ["--key", site.simulator.credentials.fcm.serviceAccountFile]
            #expect(try await run(site, set + account, expect: 65).errors.contains("platform ios"))
            try await run(site, set + ["--passphrase-file", "/dev/null"], expect: 64)
            #expect(try await site.store.credentials().count == 1, "nothing of all that was stored")

            _ = try await site.store.createApplication(
                NewApplication(
                    service: site.audience.prefix,
                    name: "certified-sandbox",
                    platform: .ios,
                    environment: .sandbox,
                    integrationKey: "certified-sandbox",
                    bundleID: site.simulator.credentials.apns.topics[0]
                )
            )
            let both = try certificate(site, \.universalCertificateFile)
            try await run(site, set + both)
            let twice = try await run(site, ["credential", "set", "certified-sandbox"] + both, expect: 65)
            #expect(twice.errors.contains("already belongs to application \"certified\" of the production environment"))
            try await run(site, ["credential", "set", "certified-sandbox"] + both + ["--both-environments"])
            let single = try certificate(site, \.certificateFile) + ["--both-environments"]
            #expect(try await run(site, set + single, expect: 65).errors.contains("does not say so"))
        }
    }

    @Test func anExpiryIsAnnouncedAndCaughtBeforeTheDelivery() async throws {
        try await DeliverySite.with { site in
            try await alterExpiry(site, site.application, days: 5)
            #expect(try await run(site, ["doctor", "--json"]).output.contains("expires in 5 days"))
            #expect(try await run(site, ["status", "--wide"]).output.contains("expires in 5 days"))
            try await alterExpiry(site, site.application, days: -3)
            #expect(try await run(site, ["doctor"], expect: 1).output.contains("expired 2 days ago"))
            let tried = try await run(site, ["app", "test", site.application], expect: 1)
            #expect(tried.output.contains("expired 2 days ago"))
            #expect(try await run(site, ["status", "--wide"]).output.contains("expired 2 days ago"))
            let id = try await site.send(to: site.application)
            let progress = try await site.progress(id)
            #expect(progress.state == .editing)
            #expect(progress.stateReason.contains("expired 2 days ago"))
            #expect(progress.sent == 0 && progress.failed == 0)
        }
    }

    @Test func theKeyIsRotatedWhileEverythingRuns() async throws {
        try await DeliverySite.with { site in
            let name = try await site.add("certified", account: site.application)
            try await run(site, ["credential", "set", name] + certificate(site, \.certificateFile))
            let before = try CredentialKeyFile.keyring(site.settings).current.keyID
            // Only prepared: nothing is re-sealed, and everything opens.
            let prepared = try await run(site, ["credential", "rotate-key", "--prepare"])
            #expect(prepared.output.contains("Copy it to every other host"))
            let keys = try CredentialKeyFile.keyring(site.settings)
            #expect(keys.keyIDs.count == 2 && keys.keyIDs[1] == before)
            #expect(try await site.store.credentials().allSatisfy { $0.sealKeyID == before })
            #expect(try await site.progress(try await site.send(to: name)).sent == 20)
            // As if the rotation had been interrupted after the first credential.
            let first = try #require(try await site.store.credentials().first)
            let row = try #require(try await site.store.credential(first.id))
            let material = try keys.open(row.sealed, keyID: before, credentialID: row.id)
            let sealed = try keys.current.seal(material, credentialID: row.id)
            let key = keys.current.keyID
            #expect(try await site.store.reseal(row.id, from: before, to: key, sealed: sealed))
            #expect(
                try await run(site, ["credential", "rotate-key"]).output.contains(
                    "1 of 2 credentials were resealed"
                )
            )
            #expect(try await site.store.credentials().allSatisfy { $0.sealKeyID == key })
            #expect(try await run(site, ["doctor"]).output.contains("can be opened"))
            let dropped = try await run(site, ["credential", "rotate-key", "--drop-old"]).output
            #expect(dropped.contains("now has only the key") && !dropped.contains("still has"), "\(dropped)")
            #expect(dropped.contains("is already sealed with the key \(key)"), "\(dropped)")
            #expect(try CredentialKeyFile.keyring(site.settings).keyIDs == [key])
            let rights = try FileManager.default.attributesOfItem(atPath: site.settings.credentialKeyFile)
            #expect(rights[.posixPermissions] as? Int == 0o600)
            // A complete rotation.
            try await run(site, ["credential", "rotate-key"])
            let last = try CredentialKeyFile.keyring(site.settings).current.keyID
            #expect(last != key)
            #expect(try await site.store.credentials().allSatisfy { $0.sealKeyID == last })
            #expect(try await site.progress(try await site.send(to: name)).sent == 20)

            // The same key, passed by systemd.
            let folder = site.testSite.folder + "/systemd"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.moveItem(
                atPath: site.settings.credentialKeyFile,
                toPath: folder + "/pushmta-credential-key"
            )
            let words = ["--set", "credentialKeyFile="]
            #expect(
                try await run(site, ["doctor"] + words, expect: 1).output.contains("systemd passes no credential")
            )
            let systemd = ["CREDENTIALS_DIRECTORY": folder]
            try await run(site, ["doctor"] + words, environment: systemd)
            try await run(site, ["app", "test", name] + words, environment: systemd)
            let refused = try await run(site, ["credential", "rotate-key"] + words, environment: systemd, expect: 78)
            #expect(refused.errors.contains("--output FILE"))
            let output = site.testSite.folder + "/new-keys"
            try await run(site, ["credential", "rotate-key", "--output", output] + words, environment: systemd)
            #expect(try CredentialKeyring(text: String(contentsOfFile: output, encoding: .utf8)).keyIDs[1] == last)
        }
    }
}
