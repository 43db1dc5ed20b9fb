import Testing

@testable import PushCore

@Suite struct CredentialCipherTests {
    private let key = [UInt8](0..<32)
    private let material = Array("-----BEGIN PRIVATE KEY-----".utf8)

    @Test func materialComesBack() throws {
        let cipher = try CredentialCipher(key: key)
        let sealed = try cipher.seal(material, credentialID: 7)
        #expect(try cipher.open(sealed, credentialID: 7) == material)
        #expect(try cipher.open(cipher.seal([], credentialID: 7), credentialID: 7).isEmpty)
        #expect(try cipher.seal(material, credentialID: 7) != sealed)
        #expect(sealed.firstRange(of: material) == nil)
    }

    /// `printf '\x00…\x1f' | sha256sum` begins with 630dcd29.
    @Test func keyIDIsThatOfTheKey() throws {
        #expect(try CredentialCipher(key: key).keyID == "630dcd29")
    }

    @Test func keyTexts() throws {
        let text = CredentialCipher.newKeyText()
        #expect(text.utf8.count == 64)
        #expect(text != CredentialCipher.newKeyText())
        #expect(try CredentialCipher(keyText: " \(text)\n").keyID.utf8.count == 8)
        #expect(
            try CredentialCipher(keyText: "000102030405060708090A0B0C0D0E0F101112131415161718191a1b1c1d1e1f").keyID
                == "630dcd29"
        )
        for bad in [
            "", "00", String(repeating: "g", count: 64), String(repeating: "0", count: 66),
            String(repeating: "0", count: 63),
        ] {
            #expect(throws: CredentialError(code: .badKey, credentialID: nil)) { try CredentialCipher(keyText: bad) }
        }
        #expect(throws: CredentialError.self) { try CredentialCipher(key: [1]) }
    }

    @Test func everythingElseIsRefused() throws {
        let cipher = try CredentialCipher(key: key)
        let sealed = try cipher.seal(material, credentialID: 7)
        let notAuthentic = CredentialError(code: .notAuthentic, credentialID: 7)
        for index in sealed.indices.dropFirst() {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: notAuthentic) { try cipher.open(changed, credentialID: 7) }
        }
        let other = try CredentialCipher(key: key.reversed())
        #expect(throws: notAuthentic) { try other.open(sealed, credentialID: 7) }
        #expect(throws: CredentialError(code: .notAuthentic, credentialID: 8)) {
            try cipher.open(sealed, credentialID: 8)
        }
        #expect(throws: CredentialError(code: .tooShort, credentialID: 7)) { try cipher.open([], credentialID: 7) }
        #expect(throws: CredentialError(code: .tooShort, credentialID: 7)) {
            try cipher.open(Array(sealed.prefix(20)), credentialID: 7)
        }
        #expect(throws: CredentialError(code: .unknownFormat(9), credentialID: 7)) {
            try cipher.open([9], credentialID: 7)
        }
    }
}
