import Content
import Crypto
import Foundation
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

/// Trust in user keys, through the web process and with requests of Adobe's SDKs.
@Suite struct UserKeyTrustTests {
    private static let secret = "a secret of the backend, 32 bytes"

    private static func token(_ user: String, kid: String = "k1", seconds: Double = 600, secret: String = secret)
        -> String
    {
        func part(_ bytes: Data) -> String {
            bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let end = Int(Date().timeIntervalSince1970 + seconds)
        let signed =
            part(Data(#"{"alg":"HS256","kid":"\#(kid)"}"#.utf8)) + "."
            + part(Data(#"{"sub":"\#(user)","exp":\#(end)}"#.utf8))
        let key = SymmetricKey(data: Data(secret.utf8))
        return signed + "." + part(Data(HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)))
    }

    /// Makes the service require proofs; the key is sealed as in `service set`.
    private static func trust(_ site: WebSite, _ trust: UserKeyTrust, kid: String = "k1") async throws {
        let cipher = try CredentialKeyring(text: WebSite.sealKey).current
        let id = try await site.admin.nextCredentialID()
        let key = ProofKeyRow(
            id: id,
            serviceID: 1,
            keyID: kid,
            algorithm: .hs256,
            sealed: try cipher.seal([UInt8](secret.utf8), credentialID: id),
            sealKeyID: cipher.keyID
        )
        try await site.admin.setUserKeyTrust(service: "shop", trust, adding: key)
        try await eventually("the process knows it") {
            try await site.registerAndroid(
                "registrationToken=probe-\(UUID().uuidString)&mobileAppUuid=testIntegrationKey&userKey=x"
            )
            .body != "OK\n" || trust != .signed
        }
        // With trust `server`, the answer is always OK.
        if trust == .server {
            try await eventually("the process takes no word of a device") {
                let token = "probe-\(UUID().uuidString)"
                _ = try await site.registerAndroid(
                    "registrationToken=\(token)&mobileAppUuid=testIntegrationKey&userKey=x"
                )
                return try await user(site, token) == ""
            }
        }
    }

    private static func register(
        _ site: WebSite,
        _ token: String,
        _ user: String,
        _ proof: String? = nil,
        other: String = ""
    ) async throws -> RawAnswer {
        // In the form of the Android SDK.
        let proof = proof.map { #"<param name="userKeyProof" value="\#($0)"/>"# } ?? ""
        let document = "<additionalParameters>\(proof)\(other)</additionalParameters>"
        let escaped = document.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await site.registerAndroid(
            "registrationToken=\(token)&mobileAppUuid=testIntegrationKey&userKey=\(user)&additionalParams=\(escaped)"
        )
    }

    private static func user(_ site: WebSite, _ token: String) async throws -> String? {
        try await site.value(
            "SELECT user_key FROM pushmta_engine.subscription WHERE push_token = '\(token)' AND enabled"
        )
    }

    @Test func withSignedNobodyIsSomebodyElse() async throws {
        let site = try await WebSite.start()
        try await Self.trust(site, .signed)
        // A stranger who claims to be Ada is stored and answered 200, but gets none of her messages.
        let stranger = try await Self.register(site, "stranger-token", "ada")
        #expect(stranger.status == 200 && stranger.body.hasPrefix("OK, but the user key is not proven"))
        #expect(try await Self.user(site, "stranger-token") == "")
        for proof in [
            Self.token("bob"), Self.token("ada", seconds: -120), Self.token("ada", kid: "k7"),
            Self.token("ada", secret: "another secret of 32 bytes or more"), "x.y.z", "",
        ] {
            #expect(try await Self.register(site, "stranger-token", "ada", proof).status == 200)
            #expect(try await Self.user(site, "stranger-token") == "", "\(proof)")
        }
        // Ada herself: her values are stored, her proof is not.
        let ada = try await Self.register(
            site,
            "ada-token",
            "ada",
            Self.token("ada"),
            other: #"<param name="city" value="Lyon"/>"#
        )
        #expect(ada.status == 200 && ada.body == "OK\n")
        #expect(try await Self.user(site, "ada-token") == "ada")
        let row = "SELECT to_jsonb(s)::text FROM pushmta_engine.subscription s WHERE s.push_token = 'ada-token'"
        let kept = try await site.value(row) ?? ""
        #expect(kept.contains("Lyon") && !kept.contains("eyJ") && !kept.contains("userKeyProof"))
        // Registered again without a proof, as after an update of the app, the device stays hers.
        #expect(try await Self.register(site, "ada-token", "ada").status == 200)
        #expect(try await Self.user(site, "ada-token") == "ada")
        // Another user on the device, or none: it is no longer hers, and her messages in flight do not reach that user.
        #expect(try await Self.register(site, "ada-token", "bob").status == 200)
        #expect(try await Self.user(site, "ada-token") == "")
        #expect(
            try await site.value(
                "SELECT disabled_reason FROM pushmta_engine.subscription WHERE push_token = 'ada-token' AND NOT enabled"
            ) == "token_moved"
        )
        // A later proof links the device; the proof may be the only source of the user key.
        #expect(try await Self.register(site, "stranger-token", "", Self.token("eve")).status == 200)
        #expect(try await Self.user(site, "stranger-token") == "eve")
        try await site.drain()
    }

    @Test func aDeviceIDThatAnybodyCanSayEndsNobodysProvenRegistration() async throws {
        let site = try await WebSite.start()
        try await Self.trust(site, .signed)
        #expect(try await Self.register(site, "ada-token", "ada&deviceImei=d1", Self.token("ada")).status == 200)
        #expect(try await Self.register(site, "stranger-token", "ada&deviceImei=d1").status == 200)
        #expect(try await Self.user(site, "ada-token") == "ada")
        #expect(try await Self.user(site, "stranger-token") == "")
        // Her own new token, with a proof, replaces the old one.
        #expect(try await Self.register(site, "ada-token-2", "ada&deviceImei=d1", Self.token("ada")).status == 200)
        #expect(try await Self.user(site, "ada-token-2") == "ada")
        #expect(try await Self.user(site, "ada-token") == nil)
        try await site.drain()
    }

    @Test func oneBatchDecidesAsOneAfterTheOther() throws {
        func placed(_ token: String, _ claim: UserKeyClaim) throws -> PlacedRegistration {
            var placed = try PlacedRegistration(
                DeviceRegistration(platform: .android, integrationKey: "k", pushToken: token, userKey: "ada"),
                application: 1,
                declarations: try ApplicationDeclarations(variables: "[]", sounds: "[]", parameters: "[]")
            )
            placed.claim = claim
            return placed
        }
        let open = [try placed("a", .open), try placed("a", .open)]
        #expect(PlacedRegistration.groups(open).map(\.count) == [2])
        let mixed = [
            try placed("a", .proven), try placed("b", .unproven), try placed("a", .unproven), try placed("c", .proven),
            try placed("a", .unproven),
        ]
        #expect(PlacedRegistration.groups(mixed).map(\.count) == [2, 2, 1])
        #expect(PlacedRegistration.groups(mixed).flatMap(\.self) == mixed)
        #expect(PlacedRegistration.groups([]).flatMap(\.self).isEmpty)
    }

    @Test func withServerOnlyTheAPILinks() async throws {
        let site = try await APISite.start()
        let web = site.web
        #expect(try await Self.register(web, "phone-token", "ada").status == 200)
        #expect(try await Self.user(web, "phone-token") == "ada")
        try await Self.trust(web, .server)
        // Neither the change of the setting nor another registration unlinks a user.
        #expect(try await Self.user(web, "phone-token") == "ada")
        #expect(try await Self.register(web, "phone-token", "bob", Self.token("bob")).status == 200)
        #expect(try await Self.user(web, "phone-token") == "ada")
        #expect(try await Self.register(web, "other-token", "ada").status == 200)
        #expect(try await Self.user(web, "other-token") == "")
        let key = try await site.key()
        let body = #"{"application": "shop-android", "pushToken": "other-token", "userKey": "eve"}"#
        #expect((200...201).contains(try await site.call("POST", "/devices", key: key, body).status))
        #expect(try await Self.user(web, "other-token") == "eve")
        #expect(try await Self.register(web, "other-token", "").status == 200)
        #expect(try await Self.user(web, "other-token") == "eve")
        // --relink removes user keys that only devices reported.
        #expect(try await web.admin.unlinkUnproven(service: "shop") >= 1)
        #expect(try await Self.user(web, "phone-token") == "")
        #expect(try await Self.user(web, "other-token") == "eve")
        #expect(try await web.admin.unlinkUnproven(service: "shop") == 0)
        try await site.finish()
    }

    @Test func whatComesAfterRelinkIsNotBelievedThoughItWasAskedForBefore() async throws {
        let site = try await WebSite.start()
        #expect(try await Self.register(site, "ada-token", "ada").status == 200)
        // The process does not know the new setting yet: the registration says `open`, but the database decides.
        try await site.run("UPDATE pushmta_engine.service SET user_key_trust = 'server'")
        #expect(try await site.admin.unlinkUnproven(service: "shop") == 1)
        try await site.run(
            """
            SELECT r.* FROM pushmta_engine.application a, pushmta_engine.register_claims(ARRAY[a.id, a.id], '{ada-token,new-token}',
                '{ada,ada}', '{NULL,NULL}', '{"",""}', '{"",""}', '{"{}","{}"}', '{NULL,NULL}', '{"{}","{}"}',
                '{"{}","{}"}', '{open,open}') r
            WHERE a.name = 'shop-android'
            """
        )
        #expect(try await Self.user(site, "ada-token") == "")
        #expect(try await Self.user(site, "new-token") == "")
        try await site.drain()
    }

    @Test func aProofThatCannotBeCheckedIsAskedForAgain() async throws {
        let site = try await WebSite.start()
        try await Self.trust(site, .signed)
        try await site.run("UPDATE pushmta_engine.service_proof_key SET seal_key_id = 'lost', id = id + 1000")
        try await eventually("it cannot be opened") {
            try await Self.register(site, "ada-token", "ada", Self.token("ada")).status == 503
        }
        // A key that was created a moment ago is found.
        try await Self.trust(site, .signed, kid: "k2")
        #expect(try await Self.register(site, "ada-token", "ada", Self.token("ada", kid: "k2")).body == "OK\n")
        #expect(try await Self.user(site, "ada-token") == "ada")
        await #expect(throws: StoreError.self) {
            try await site.admin.setUserKeyTrust(service: "shop", nil, removing: "nobody")
        }
        try await site.admin.setUserKeyTrust(service: "shop", nil, removing: "k2")
        await #expect(throws: StoreError.self, "signed without a key") {
            try await site.admin.setUserKeyTrust(service: "shop", nil, removing: "k1")
        }
        #expect(try await site.admin.proofKeys(service: "shop").map(\.keyID) == ["k1"])
        try await site.drain()
    }
}
