import Crypto
import SwiftASN1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads PKCS#12 files (RFC 7292), the `.p12` files that certificates are exported to.
///
/// BoringSSL would read them, too, but a file without a key, or with one that is not the certificate's, ends the process
/// there, and a file that asks for a hundred million rounds keeps it busy for minutes. Here neither can happen.
struct PKCS12File {
    /// A certificate with key and chain has 3 to 10 KB.
    static let mostBytes = 65_536

    private static let data = "1.2.840.113549.1.7.1"
    private static let encryptedData = "1.2.840.113549.1.7.6"
    private static let bags = "1.2.840.113549.1.12.10.1."
    private static let x509Certificate = "1.2.840.113549.1.9.22.1"
    /// Bags within bags deeper than this have nothing to say.
    private static let deepest = 8

    private var decryption: PKCS12Decryption
    private var isAuthentic = false
    private var contents = PKCS12Contents()

    /// Reads a file.
    static func read(_ bytes: [UInt8], passphrase: String) throws(PKCS12Problem) -> PKCS12Contents {
        var file = PKCS12File(decryption: PKCS12Decryption(passphrase: passphrase))
        do {
            try file.readFile(bytes)
        } catch .wrongPassphrase where file.isAuthentic {
            // The passphrase is right, so it is the file that is not.
            throw .malformed
        }
        return file.contents
    }

    private mutating func readFile(_ bytes: [UInt8]) throws(PKCS12Problem) {
        guard bytes.count <= Self.mostBytes else { throw .malformed }
        let parts = try ASN1Node.ber(bytes[...]).parts(atLeast: 2)
        guard try parts[0].integer() == 3 else { throw .malformed }
        let safe = try parts[1].parts(atLeast: 2)
        let kind = try safe[0].oid()
        guard kind == Self.data else { throw .unsupported(kind) }
        let content = try safe[1].parts(tag: 0, atLeast: 1)[0].octets()
        if parts.count > 2 { try checkAuthenticity(of: content, parts[2]) }
        for part in try ASN1Node.ber(content).parts() { try readContent(part) }
    }

    /// Checks the file's authentication code, which tells a wrong passphrase from a damaged file.
    private mutating func checkAuthenticity(of content: ArraySlice<UInt8>, _ node: ASN1Node) throws(PKCS12Problem) {
        let parts = try node.parts(atLeast: 2)
        let digest = try parts[0].parts(atLeast: 2)
        let oid = try digest[0].parts(atLeast: 1)[0].oid()
        guard let hash = PKCS12Hash(oid: oid) else { throw .unsupported(oid) }
        let expected = Array(try digest[1].octets())
        let salt = try parts[1].octets()
        guard salt.count <= 1_024 else { throw .malformed }
        let rounds = parts.count > 2 ? try parts[2].integer() : 1
        // Some programs write an empty passphrase as two zero bytes, others as nothing at all.
        for password in decryption.passphrase.isEmpty ? [decryption.password, []] : [decryption.password] {
            try decryption.spend(rounds)
            let key = hash.derive(.mac, password: password, salt: salt, rounds: rounds, count: hash.length)
            guard hash.authenticationCode(content, key: key) == expected else { continue }
            decryption.password = password
            isAuthentic = true
            return
        }
        throw .wrongPassphrase
    }

    private mutating func readContent(_ node: ASN1Node) throws(PKCS12Problem) {
        let parts = try node.parts(atLeast: 2)
        switch try parts[0].oid() {
        case Self.data:
            try readBags(try parts[1].parts(tag: 0, atLeast: 1)[0].octets())
        case Self.encryptedData:
            let encrypted = try parts[1].parts(tag: 0, atLeast: 1)[0].parts(atLeast: 2)
            let info = try encrypted[1].parts(atLeast: 3)
            let plain = try decryption.decrypt(try info[2].octets(tag: 0), info[1])
            try readBags(plain[...])
        default: break
        }
    }

    private mutating func readBags(_ bytes: ArraySlice<UInt8>) throws(PKCS12Problem) {
        let node: ASN1Node
        do {
            node = try ASN1Node.ber(bytes)
        } catch {
            // What was decrypted with a wrong key is noise whose padding may be right by chance.
            throw isAuthentic ? .malformed : .wrongPassphrase
        }
        try readBags(node, depth: 0)
    }

    private mutating func readBags(_ node: ASN1Node, depth: Int) throws(PKCS12Problem) {
        guard depth < Self.deepest else { throw .malformed }
        for bag in try node.parts() {
            let parts = try bag.parts(atLeast: 2)
            let value = try parts[1].parts(tag: 0, atLeast: 1)[0]
            switch try parts[0].oid() {
            case Self.bags + "1":
                contents.privateKeys.append(try Self.withoutAttributes(value))
            case Self.bags + "2":
                let shrouded = try value.parts(atLeast: 2)
                let plain = try decryption.decrypt(try shrouded[1].octets(), shrouded[0])
                contents.privateKeys.append(try Self.withoutAttributes(try ASN1Node.ber(plain[...])))
            case Self.bags + "3":
                let certificate = try value.parts(atLeast: 2)
                guard try certificate[0].oid() == Self.x509Certificate else { continue }
                contents.certificates.append(Array(try certificate[1].parts(tag: 0, atLeast: 1)[0].octets()))
            case Self.bags + "6":
                try readBags(value, depth: depth + 1)
            default: break
            }
        }
    }

    /// A PKCS#8 key without the attributes that Keychain Access adds and that not every library takes.
    private static func withoutAttributes(_ node: ASN1Node) throws(PKCS12Problem) -> [UInt8] {
        let parts = try node.parts(atLeast: 3)
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { coder in
            for part in parts.prefix(3) { coder.serializeRawBytes(part.encodedBytes) }
        }
        return serializer.serializedBytes
    }
}
