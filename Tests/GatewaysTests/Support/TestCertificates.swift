import Crypto
import CryptoExtras
import Foundation
import GatewayTestSupport
import SwiftASN1
import X509

/// Certificates of senders in PEM, and `.p12` files that the program `openssl` makes from them, as users do.
struct TestCertificates {
    /// A certificate with its key, both in PEM.
    struct Pair {
        var certificate: Certificate
        var certificatePEM: String
        var keyPEM: String
    }

    /// A folder that is removed with the fixture.
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The numbers of Apple's extensions under 1.2.840.113635.100.6.3, with NULL as their value.
    func pair(
        topics: [String] = [],
        userID: String? = "com.example.app",
        marks: [UInt] = [2],
        validity: Range<Date>? = nil,
        isRSA: Bool = false,
        issuer: Pair? = nil,
        keyOf other: Pair? = nil
    ) throws -> Pair {
        let key: Certificate.PrivateKey
        if let other {
            key = try Certificate.PrivateKey(pemEncoded: other.keyPEM)
        } else if isRSA {
            key = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        } else {
            key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        }
        var attributes = [
            RelativeDistinguishedName.Attribute(
                type: .RDNAttributeType.commonName,
                utf8String: "Apple Push Services: \(userID ?? UUID().uuidString)"
            )
        ]
        if let userID {
            attributes.append(.init(type: [0, 9, 2342, 19_200_300, 100, 1, 1], utf8String: userID))
        }
        let subject = DistinguishedName(attributes.map { RelativeDistinguishedName($0) })
        var extensions = Certificate.Extensions()
        for mark in marks { try extensions.append(extensionOf(mark, [0x05, 0x00])) }
        if !topics.isEmpty { try extensions.append(extensionOf(6, try Self.list(topics))) }
        let now = Date()
        let validity = validity ?? now.addingTimeInterval(-3_600)..<now.addingTimeInterval(30 * 86_400)
        let issuerKey = try issuer.map { try Certificate.PrivateKey(pemEncoded: $0.keyPEM) } ?? key
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: validity.lowerBound,
            notValidAfter: validity.upperBound,
            issuer: issuer?.certificate.subject ?? subject,
            subject: subject,
            extensions: extensions,
            issuerPrivateKey: issuerKey
        )
        return Pair(
            certificate: certificate,
            certificatePEM: try certificate.serializeAsPEM().pemString + "\n",
            keyPEM: try key.serializeAsPEM().pemString + "\n"
        )
    }

    private func extensionOf(_ mark: UInt, _ value: [UInt8]) -> Certificate.Extension {
        Certificate.Extension(oid: [1, 2, 840, 113635, 100, 6, 3, mark], critical: false, value: value[...])
    }

    private static func list(_ topics: [String]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { list in
            for topic in topics {
                try list.serialize(ASN1UTF8String(topic))
                try list.appendConstructedNode(identifier: .sequence) { try $0.serialize(ASN1UTF8String("app")) }
            }
        }
        return serializer.serializedBytes
    }

    /// A `.p12` file that `openssl pkcs12 -export` makes.
    func pkcs12(
        _ pair: Pair,
        passphrase: String = "secret phrase",
        chain: [Pair] = [],
        _ options: [String] = []
    ) throws -> [UInt8] {
        let name = UUID().uuidString
        let (certificate, key, output) = (path(name + ".crt"), path(name + ".key"), path(name + ".p12"))
        try pair.certificatePEM.write(toFile: certificate, atomically: true, encoding: .utf8)
        try pair.keyPEM.write(toFile: key, atomically: true, encoding: .utf8)
        var arguments = ["pkcs12", "-export", "-in", certificate, "-out", output, "-passout", "pass:" + passphrase]
        if !options.contains("-nokeys") { arguments += ["-inkey", key] }
        if !chain.isEmpty {
            let file = path(name + ".chain")
            try chain.map(\.certificatePEM).joined().write(toFile: file, atomically: true, encoding: .utf8)
            arguments += ["-certfile", file]
        }
        try OpenSSL.run(arguments + options)
        return Array(try Data(contentsOf: URL(fileURLWithPath: output)))
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}
