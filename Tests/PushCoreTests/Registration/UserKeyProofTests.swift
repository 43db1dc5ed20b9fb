import Crypto
import Foundation
import Testing

@testable import PushCore

/// Proofs of user keys: what counts, and all that does not.
@Suite struct UserKeyProofTests {
    private static let secret = [UInt8]("0123456789abcdef0123456789abcdef".utf8)
    private static let now = 1_800_000_000.0

    private static func text(_ json: String) -> String {
        Data(json.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=",
            with: ""
        )
    }

    private static func hmac(_ head: String, _ claims: String, secret: [UInt8] = secret) -> String {
        let signed = "\(text(head)).\(text(claims))"
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: secret))
        return signed + "."
            + String(decoding: Data(code).base64EncodedData(), as: UTF8.self)
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private func check(_ token: String, _ key: UserKeyProofKey) throws(UserKeyProof.Refusal) -> String {
        try UserKeyProof(token).userKey(key, now: Self.now)
    }

    private func refusal(_ token: String, _ key: UserKeyProofKey) -> UserKeyProof.Refusal? {
        do {
            _ = try check(token, key)
            return nil
        } catch {
            return error
        }
    }

    @Test func aTokenOfTheBackendProvesItsUser() throws {
        let key = try #require(UserKeyProofKey(id: "k1", algorithm: .hs256, bytes: Self.secret))
        let head = #"{"alg":"HS256","typ":"JWT","kid":"k1"}"#
        #expect(try check(Self.hmac(head, #"{"sub":"ada","exp":1800000100}"#), key) == "ada")
        #expect(try check(Self.hmac(head, #"{"sub":"zoë","exp":1800000100,"nbf":1799999999,"aud":"x"}"#), key) == "zoë")
        // Clocks differ by a minute at most.
        #expect(try check(Self.hmac(head, #"{"sub":"ada","exp":1799999941}"#), key) == "ada")
        #expect(refusal(Self.hmac(head, #"{"sub":"ada","exp":1799999940}"#), key) == .expired)
        #expect(refusal(Self.hmac(head, #"{"sub":"ada","exp":1800000100,"nbf":1800000061}"#), key) == .early)
        // One that never ends would make anybody who finds it that user for ever.
        #expect(try check(Self.hmac(head, #"{"sub":"ada","exp":1802592060}"#), key) == "ada")
        #expect(refusal(Self.hmac(head, #"{"sub":"ada","exp":1802592061}"#), key) == .endless)
        #expect(refusal(Self.hmac(head, #"{"sub":"ada","exp":1e300}"#), key) == .endless)
        // The example of RFC 7515, appendix A.1, is signed right and says no user: what a library of another maker signs is read here.
        let rfc =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        #expect(refusal(rfc, key) == .malformed)
    }

    @Test func anES256TokenIsCheckedWithThePublicKey() throws {
        let own = P256.Signing.PrivateKey()
        let pem = own.publicKey.pemRepresentation
        let bytes = try #require(UserKeyProofKey.publicKey(pem: pem))
        let key = try #require(UserKeyProofKey(id: "k2", algorithm: .es256, bytes: bytes))
        let signed = Self.text(#"{"alg":"ES256","kid":"k2"}"#) + "." + Self.text(#"{"sub":"ada","exp":1800000100}"#)
        let signature = try own.signature(for: Data(signed.utf8)).rawRepresentation.base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        #expect(try check(signed + "." + signature, key) == "ada")
        // The public key is no secret: who signs with it as one proves nothing.
        let forged = Self.hmac(#"{"alg":"HS256","kid":"k2"}"#, #"{"sub":"ada","exp":1800000100}"#, secret: bytes)
        #expect(refusal(forged, key) == .signature)
        let withPEM = Self.hmac(
            #"{"alg":"HS256","kid":"k2"}"#,
            #"{"sub":"ada","exp":1800000100}"#,
            secret: [UInt8](pem.utf8)
        )
        #expect(refusal(withPEM, key) == .signature)
        #expect(UserKeyProofKey.publicKey(pem: own.pemRepresentation) == nil)
        #expect(UserKeyProofKey.publicKey(pem: P384.Signing.PrivateKey().publicKey.pemRepresentation) == nil)
    }

    @Test func everythingElseProvesNothing() throws {
        let key = try #require(UserKeyProofKey(id: "k1", algorithm: .hs256, bytes: Self.secret))
        let head = #"{"alg":"HS256","kid":"k1"}"#
        let claims = #"{"sub":"ada","exp":1800000100}"#
        let good = Self.hmac(head, claims)
        #expect(refusal(good, key) == nil)
        // Any bit of it.
        for place in good.indices where good[place] != "." {
            var other = good
            other.replaceSubrange(place...place, with: good[place] == "A" ? "B" : "A")
            // The last character of a part has bits that say nothing.
            let next = good.index(after: place)
            if next == good.endIndex || good[next] == "." { continue }
            #expect(refusal(other, key) != nil, "\(other)")
        }
        for wrong in [
            #"{"alg":"none","kid":"k1"}"#, #"{"alg":"hs256","kid":"k1"}"#, #"{"alg":"HS512","kid":"k1"}"#,
            #"{"alg":"HS256"}"#,
            #"{"alg":"HS256","kid":7}"#, #"{"alg":"HS256","kid":"k1","crit":["x"]}"#,
            #"{"alg":"none","alg":"HS256","kid":"k1"}"#, "[]", "",
        ] { #expect(refusal(Self.hmac(wrong, claims), key) == .malformed, "\(wrong)") }
        for wrong in [
            #"{"exp":1800000100}"#, #"{"sub":"","exp":1800000100}"#, #"{"sub":"ada"}"#,
            #"{"sub":"ada","exp":"1800000100"}"#,
            #"{"sub":"ada","exp":1e999}"#, #"{"sub":["ada"],"exp":1800000100}"#, #"{"sub":"a\u0000","exp":1800000100}"#,
            #"{"sub":"ada","sub":"bob","exp":1800000100}"#, #"{"sub":"ada","exp":1800000100,"nbf":"now"}"#,
            #"{"sub":"\#(String(repeating: "x", count: 1_001))","exp":1800000100}"#,
        ] { #expect(refusal(Self.hmac(head, wrong), key) == .malformed, "\(wrong)") }
        #expect(refusal(Self.hmac(#"{"alg":"HS256","kid":"k9"}"#, claims), key) == .unknownKey)
        #expect(refusal(Self.hmac(head, claims, secret: Self.secret.reversed()), key) == .signature)
        // Without a signature, with padding, with a part too many, in the other alphabet, too long.
        let bare = good.prefix { $0 != "." } + "." + Self.text(claims)
        for wrong in [
            "", ".", "..", "...", "\(bare)", "\(bare).", good + "=", good + ".", good + ".x", " " + good, good + "\n",
            good + String(repeating: "A", count: UserKeyProof.longest),
        ] { #expect(refusal(wrong, key) != nil, "\(wrong.prefix(300))") }
        #expect(UserKeyProofKey(id: "k", algorithm: .hs256, bytes: Array(Self.secret.dropLast())) == nil)
        #expect(UserKeyProofKey(id: "k", algorithm: .es256, bytes: Self.secret) == nil)
    }
}
