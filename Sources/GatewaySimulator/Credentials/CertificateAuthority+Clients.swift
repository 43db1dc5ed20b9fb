import Crypto
import Foundation
import SwiftASN1
import X509

extension CertificateAuthority {
    /// Issues a certificate like those that Apple gives to senders.
    ///
    /// - Parameters:
    ///   - topics: the topics that it names; empty for none.
    ///   - marks: the numbers of the extensions under 1.2.840.113635.100.6.3 that say where it may be used: 1 for the sandbox, 2
    ///     for production.
    ///   - validity: from when to when it is good.
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

    /// The list of Apple's extension 6: each topic is followed by the list of the kinds of pushes that it is for.
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
