import Crypto
import Foundation
import SwiftASN1
import X509

/// The simulator's own certificate authority and the certificate of its servers.
struct CertificateAuthority {
    /// The path of the CA's certificate, which clients have to trust.
    let caFile: String
    /// The servers' certificate in PEM.
    let serverCertificatePEM: String
    /// The servers' private key in PEM.
    let serverKeyPEM: String
    /// The authority's own certificate.
    let certificate: Certificate
    /// The authority's key.
    let key: P256.Signing.PrivateKey

    /// Long enough that a test machine never meets the end of it.
    private static let lifetimeSeconds = 3650.0 * 86_400
    private static let caName = "PushMTA gateway simulator CA"

    /// Takes what stands in the folder and makes what is missing. The servers' certificate is made anew when it does not cover
    /// every name.
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
                "the certificates in \(folder.path) cannot be used (\(error)): delete ca.pem and ca-key.pem, and new ones are made"
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
        // An hour back, for clients whose clock is a little behind.
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
