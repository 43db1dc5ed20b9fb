import Crypto
import CryptoExtras
import SwiftASN1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decrypts the parts of a PKCS#12 file, whose ways of encryption go from 1996 to today.
struct PKCS12Decryption {
    /// All rounds of all keys of one file together: exported files have some thousand each, Windows takes 600,000 at most.
    static let mostRounds = 2_000_000

    /// The passphrase in UTF-8, as PBES2 takes it.
    let passphrase: [UInt8]
    /// The same as PKCS#12's own derivation takes it: UTF-16 with a zero at the end.
    var password: [UInt8]
    private var roundsLeft = Self.mostRounds

    init(passphrase: String) {
        self.passphrase = Array(passphrase.utf8)
        password = (Array(passphrase.utf16) + [0]).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    /// Takes the rounds of one derivation from what the whole file may cost.
    mutating func spend(_ rounds: Int) throws(PKCS12Problem) {
        guard rounds > 0 else { throw .malformed }
        guard rounds <= roundsLeft else { throw .tooSlow }
        roundsLeft -= rounds
    }

    /// Decrypts bytes as an AlgorithmIdentifier says.
    mutating func decrypt(_ bytes: ArraySlice<UInt8>, _ algorithm: ASN1Node) throws(PKCS12Problem) -> [UInt8] {
        let parts = try algorithm.parts(atLeast: 2)
        let oid = try parts[0].oid()
        if oid == "1.2.840.113549.1.5.13" { return try decryptPBES2(bytes, parts[1]) }
        let keyLength: Int
        switch oid {
        case "1.2.840.113549.1.12.1.3": keyLength = 24
        case "1.2.840.113549.1.12.1.4": keyLength = 16
        case "1.2.840.113549.1.12.1.5": keyLength = 16
        case "1.2.840.113549.1.12.1.6": keyLength = 5
        default: throw .unsupported(oid)
        }
        let parameters = try parts[1].parts(atLeast: 2)
        let salt = try salt(parameters[0])
        let rounds = try parameters[1].integer()
        try spend(rounds)
        let hash = PKCS12Hash.sha1
        let key = hash.derive(.key, password: password, salt: salt, rounds: rounds, count: keyLength)
        let vector = hash.derive(.vector, password: password, salt: salt, rounds: rounds, count: 8)
        let cipher: (any BlockCipher)? =
            oid.hasSuffix(".3") || oid.hasSuffix(".4") ? TripleDES(key: key) : RC2(key: key)
        guard let plain = cipher?.decryptCBC(bytes, vector: vector) else { throw .wrongPassphrase }
        return plain
    }

    /// PBES2 with PBKDF2 (RFC 8018), what files of today have.
    private mutating func decryptPBES2(_ bytes: ArraySlice<UInt8>, _ parameters: ASN1Node) throws(PKCS12Problem)
        -> [UInt8]
    {
        let parts = try parameters.parts(atLeast: 2)
        let derivation = try parts[0].parts(atLeast: 2)
        let scheme = try parts[1].parts(atLeast: 2)
        let derivationOID = try derivation[0].oid()
        guard derivationOID == "1.2.840.113549.1.5.12" else { throw .unsupported(derivationOID) }
        let settings = try derivation[1].parts(atLeast: 2)
        let salt = try salt(settings[0])
        let rounds = try settings[1].integer()
        let hash = try Self.pseudoRandomFunction(settings.last)
        let cipher = try scheme[0].oid()
        let vector = Array(try scheme[1].octets())
        let keyLength: Int
        switch cipher {
        case "2.16.840.1.101.3.4.1.2": keyLength = 16
        case "2.16.840.1.101.3.4.1.22": keyLength = 24
        case "2.16.840.1.101.3.4.1.42": keyLength = 32
        default: throw .unsupported(cipher)
        }
        try spend(rounds)
        do {
            let key = try KDF.Insecure.PBKDF2.deriveKey(
                from: passphrase,
                salt: Array(salt),
                using: hash,
                outputByteCount: keyLength,
                unsafeUncheckedRounds: rounds
            )
            return Array(try AES._CBC.decrypt(Array(bytes), using: key, iv: AES._CBC.IV(ivBytes: vector)))
        } catch {
            throw .wrongPassphrase
        }
    }

    /// The hash function of PBKDF2; SHA-1 where none is named (RFC 8018 appendix A.2).
    private static func pseudoRandomFunction(_ last: ASN1Node?) throws(PKCS12Problem)
        -> KDF.Insecure.PBKDF2.HashFunction
    {
        guard let last, last.identifier == .sequence else { return .insecureSHA1 }
        let oid = try last.parts(atLeast: 1)[0].oid()
        switch oid {
        case "1.2.840.113549.2.7": return .insecureSHA1
        case "1.2.840.113549.2.8": return .insecureSHA224
        case "1.2.840.113549.2.9": return .sha256
        case "1.2.840.113549.2.10": return .sha384
        case "1.2.840.113549.2.11": return .sha512
        default: throw .unsupported(oid)
        }
    }

    /// The salt, 8 or 16 bytes in files of today.
    private func salt(_ node: ASN1Node) throws(PKCS12Problem) -> ArraySlice<UInt8> {
        let salt = try node.octets()
        guard salt.count <= 1_024 else { throw .malformed }
        return salt
    }
}
