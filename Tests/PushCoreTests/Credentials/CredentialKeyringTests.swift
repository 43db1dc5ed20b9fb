import Testing

@testable import PushCore

@Suite struct CredentialKeyringTests {
    private let first = String(repeating: "0a", count: 32)
    private let second = String(repeating: "b1", count: 32)

    @Test func theFirstKeySealsAndAllOpen() throws {
        let old = try CredentialKeyring(text: first + "\n")
        let sealed = try old.current.seal([1, 2, 3], credentialID: 5)
        let text = CredentialKeyring.text(adding: second, to: first + "\n")
        #expect(text == second + "\n" + first + "\n")
        let ring = try CredentialKeyring(text: "# keys\n\n  \(second.uppercased())  # new\n\(first)\n")
        #expect(ring.keyIDs == [try CredentialCipher(keyText: second).keyID, old.current.keyID])
        #expect(try ring.open(sealed, keyID: old.current.keyID, credentialID: 5) == [1, 2, 3])
        let again = try ring.current.seal([1, 2, 3], credentialID: 5)
        #expect(try ring.open(again, keyID: ring.current.keyID, credentialID: 5) == [1, 2, 3])
        #expect(throws: CredentialError(code: .otherKey(ring.current.keyID), credentialID: 5)) {
            try old.open(again, keyID: ring.current.keyID, credentialID: 5)
        }
        #expect(CredentialKeyring.textOfCurrentKey(in: text) == second + "\n")
    }

    @Test func keysThatAFileLacksComeBehindItsOwn() throws {
        let both = CredentialKeyring.text(completing: first + "\n", from: second + "\n" + first + "\n")
        #expect(both == first + "\n" + second + "\n")
        #expect(CredentialKeyring.text(completing: both, from: second) == both)
    }

    @Test func oneKeyMayHaveSeveralLines() throws {
        let lines = first.prefix(32) + "\n" + first.dropFirst(32) + "\r\n"
        #expect(try CredentialKeyring(text: String(lines)).keyIDs == CredentialKeyring(text: first).keyIDs)
        let text = CredentialKeyring.text(adding: second, to: String(lines))
        #expect(try CredentialKeyring(text: text).keyIDs.count == 2)
    }

    @Test func everythingElseIsRefused() {
        for bad in ["", "\n# nothing\n", "xyz", first + "\n" + second.dropLast(), String(repeating: "g", count: 64)] {
            #expect(throws: CredentialError(code: .badKey, credentialID: nil)) { try CredentialKeyring(text: bad) }
        }
    }

    @Test func noticesComeInSteps() {
        let day = 86_400.0
        #expect(ExpiryNotice(secondsLeft: 31 * day) == nil)
        #expect(ExpiryNotice(secondsLeft: 30 * day) == .month)
        #expect(ExpiryNotice(secondsLeft: 7.1 * day) == .month)
        #expect(ExpiryNotice(secondsLeft: 7 * day) == .week)
        #expect(ExpiryNotice(secondsLeft: day) == .day)
        #expect(ExpiryNotice(secondsLeft: 0) == .over)
        #expect(ExpiryNotice(secondsLeft: -9e300) == .over)
        #expect(ExpiryNotice.month < .over)
        #expect(ExpiryNotice.text(secondsLeft: 12.5 * day) == "expires in 12 days")
        #expect(ExpiryNotice.text(secondsLeft: 5_000) == "expires in 1 hour")
        #expect(ExpiryNotice.text(secondsLeft: -3 * day) == "expired 3 days ago")
        #expect(ExpiryNotice.text(secondsLeft: .infinity).hasPrefix("expires in"))
    }
}
