import Crypto
import Foundation
import SwiftASN1
import X509

/// The simulator's own certificate authority and its servers' certificate.
struct CertificateAuthority {
    /// The path of the CA's certificate, which clients must trust.
    let caFile: String
    /// The servers' certificate in PEM.
    let serverCertificatePEM: String
    /// The servers' private key in PEM.
    let serverKeyPEM: String
    let certificate: Certificate
    let key: P256.Signing.PrivateKey

    /// Long enough that it never expires on a test machine.
    private static let lifetimeSeconds = 3650.0 * 86_400
    private static let caName = "PushMTA gateway simulator CA"

    /// Loads the certificates in the folder, and creates missing ones. The servers' certificate is recreated if it does
    /// not cover every name.
    init(folder: StateFolder, names: [String]) throws(SimulatorError) {
        do {
            let authority = try Self.authority(folder)
            certificate = authority.certificate
            key = authority.key
            caFile = folder.file("ca.pem")
            let wanted = names.sorted().joined(separator: "\n")
            if folder.read("server-names.txt") == wanted, let oldCertificate = folder.read("server.pem"),
                let oldKey = folder.read("server-key.pem"), try Self.isIssued(oldCertificate, by: authority.certificate)
            {
                serverCertificatePEM = oldCertificate
                serverKeyPEM = oldKey
                return
            }
            let serverKey = P256.Signing.PrivateKey()
            let server = try Self.serverCertificate(serverKey, names: names, issuer: authority)
            serverCertificatePEM = try server.serializeAsPEM().pemString
            serverKeyPEM = serverKey.pemRepresentation
            try folder.write("server-key.pem", serverKeyPEM, isSecret: true)
            try folder.write("server.pem", serverCertificatePEM, isSecret: false)
            try folder.write("server-names.txt", wanted, isSecret: false)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(
                .credential,
                "the certificates in \(folder.path) cannot be used (\(error)): delete ca.pem and ca-key.pem to have "
                    + "new ones created"
            )
        }
    }

    private struct Authority {
        var certificate: Certificate
        var key: P256.Signing.PrivateKey
    }

    private static func authority(_ folder: StateFolder) throws -> Authority {
        if let certificate = folder.read("ca.pem"), let key = folder.read("ca-key.pem") {
            return Authority(
                certificate: try Certificate(pemEncoded: certificate),
                key: try P256.Signing.PrivateKey(pemRepresentation: key)
            )
        }
        let key = P256.Signing.PrivateKey()
        let certificate = try caCertificate(key)
        try folder.write("ca-key.pem", key.pemRepresentation, isSecret: true)
        try folder.write("ca.pem", try certificate.serializeAsPEM().pemString, isSecret: false)
        return Authority(certificate: certificate, key: key)
    }

    private static func isIssued(_ pem: String, by authority: Certificate) throws -> Bool {
        let certificate = try Certificate(pemEncoded: pem)
        return certificate.notValidAfter > Date()
            && authority.publicKey.isValidSignature(certificate.signature, for: certificate)
    }

    private static func caCertificate(_ key: P256.Signing.PrivateKey) throws -> Certificate {
        let name = try DistinguishedName { CommonName(caName) }
        let publicKey = Certificate.PublicKey(key.publicKey)
        return try certificate(
            publicKey,
            issuer: name,
            subject: name,
            signedBy: key,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: publicKey)
            }
        )
    }

    private static func serverCertificate(
        _ key: P256.Signing.PrivateKey,
        names: [String],
        issuer: Authority
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        return try certificate(
            publicKey,
            issuer: issuer.certificate.subject,
            subject: DistinguishedName { CommonName(names.first ?? "localhost") },
            signedBy: issuer.key,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names.map(generalName))
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: Certificate.PublicKey(issuer.key.publicKey)).keyIdentifier
                )
            }
        )
    }

    private static func certificate(
        _ publicKey: Certificate.PublicKey,
        issuer: DistinguishedName,
        subject: DistinguishedName,
        signedBy key: P256.Signing.PrivateKey,
        extensions: Certificate.Extensions
    ) throws -> Certificate {
        // Valid from an hour ago, for clients whose clock is slightly behind.
        let now = Date()
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: publicKey,
            notValidBefore: now.addingTimeInterval(-3600),
            notValidAfter: now.addingTimeInterval(lifetimeSeconds),
            issuer: issuer,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
    }

    private static func generalName(_ name: String) -> GeneralName {
        IPAddressBytes.parse(name).map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) } ?? .dnsName(name)
    }
}

extension CertificateAuthority {
    /// Issues a certificate like those that Apple gives to senders.
    ///
    /// - Parameters:
    ///   - topics: The topics in the certificate; empty for none.
    ///   - marks: The numbers of the extensions under 1.2.840.113635.100.6.3 that say where it may be used: 1 for the
    ///     sandbox, 2 for production.
    ///   - validity: The period of validity.
    func issueSenderCertificate(
        _ key: P256.Signing.PrivateKey,
        topics: [String],
        marks: [UInt],
        validity: Range<Date>
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        var names = [
            RelativeDistinguishedName.Attribute(
                type: .RDNAttributeType.commonName,
                utf8String: "Apple Push Services: \(topics.first ?? "any app")"
            )
        ]
        if let topic = topics.first {
            names.insert(RelativeDistinguishedName.Attribute(type: Self.userID, utf8String: topic), at: 0)
        }
        var extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.clientAuth])
            SubjectKeyIdentifier(hash: publicKey)
        }
        for mark in marks {
            try extensions.append(.init(oid: Self.pushMark(mark), critical: false, value: [0x05, 0x00]))
        }
        if !topics.isEmpty {
            try extensions.append(.init(oid: Self.pushMark(6), critical: false, value: try Self.topicList(topics)[...]))
        }
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: publicKey,
            notValidBefore: validity.lowerBound,
            notValidAfter: validity.upperBound,
            issuer: certificate.subject,
            subject: DistinguishedName(names.map { RelativeDistinguishedName($0) }),
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(self.key)
        )
    }

    /// The subject's UID, which is the bundle id (RFC 4519 section 2.39).
    static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    /// Apple's extensions for push certificates.
    static func pushMark(_ number: UInt) -> ASN1ObjectIdentifier {
        [1, 2, 840, 113635, 100, 6, 3, number]
    }

    /// The list in Apple's extension 6: each topic is followed by the list of its kinds of pushes.
    private static func topicList(_ topics: [String]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { list in
            for topic in topics {
                try list.serialize(ASN1UTF8String(topic))
                try list.appendConstructedNode(identifier: .sequence) { kinds in
                    try kinds.serialize(ASN1UTF8String(topic == topics.first ? "app" : "voip"))
                }
            }
        }
        return serializer.serializedBytes
    }
}

/// Numeric IP addresses in the form used in certificates.
enum IPAddressBytes {
    /// The 4 or 16 bytes of a numeric address; nil for a name.
    static func parse(_ text: String) -> [UInt8]? {
        text.contains(":") ? version6(text) : version4(text)
    }

    private static func version4(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return parts.count == 4 && !parts.contains(nil) ? parts.compactMap { $0 } : nil
    }

    /// Eight groups; one run of zeros may be omitted.
    private static func version6(_ text: String) -> [UInt8]? {
        var sides = [""]
        var rest = text[...]
        if let gap = text.firstIndex(of: ":"), let double = doubleColon(text, from: gap) {
            sides = [String(text[..<double])]
            rest = text[text.index(double, offsetBy: 2)...]
            sides.append(String(rest))
        } else {
            sides = [String(rest)]
        }
        let groups = sides.map {
            $0.isEmpty ? [] : $0.split(separator: ":", omittingEmptySubsequences: false).map { UInt16($0, radix: 16) }
        }
        let known = groups.joined().count
        guard !groups.joined().contains(nil), sides.count == 2 ? known < 8 : known == 8 else { return nil }
        let values = groups.map { $0.compactMap { $0 } }
        let all = values[0] + [UInt16](repeating: 0, count: 8 - known) + (sides.count == 2 ? values[1] : [])
        return all.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    private static func doubleColon(_ text: String, from start: String.Index) -> String.Index? {
        var index = start
        while index < text.endIndex {
            let next = text.index(after: index)
            if text[index] == ":", next < text.endIndex, text[next] == ":" { return index }
            index = next
        }
        return nil
    }
}
