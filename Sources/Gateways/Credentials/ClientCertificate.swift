import Crypto
import NIOSSL
import SwiftASN1
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A certificate with its private key, which an application proves itself with to APNs: the contents of a `.p12` file.
public struct ClientCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    /// The certificate, then those that signed it as far as the file has them.
    public let certificateChain: [NIOSSLCertificate]
    /// The certificate's key.
    public let privateKey: NIOSSLPrivateKey
    /// The name of the subject, for people.
    public let name: String
    /// From when on it is good.
    public let notBefore: Date
    /// Until when it is good.
    public let notAfter: Date
    /// SHA-256 of the certificate in hexadecimal digits: what people compare.
    public let fingerprint: String
    /// The topics that it may send to; empty when it names none, as one for a stand-in gateway may.
    public let topics: [String]
    /// Whether it may be used in APNs' sandbox.
    public let allowsSandbox: Bool
    /// Whether it may be used in APNs' production environment.
    public let allowsProduction: Bool
    /// Whether it says itself that it is for sandbox and production, as Apple's certificates of today do.
    public let namesBothEnvironments: Bool

    /// Reads a `.p12` file, those of old tools (40-bit RC2, triple DES) included. Whether its time is over is not asked
    /// here, see ``requireValidity(at:)``.
    ///
    /// - Parameter passphrase: "" for none.
    /// - Throws: `GatewayCredentialError` that says what is wrong and what to do, never anything of the material.
    public init(pkcs12: [UInt8], passphrase: String) throws(GatewayCredentialError) {
        let contents: PKCS12Contents
        do throws(PKCS12Problem) {
            contents = try PKCS12File.read(pkcs12, passphrase: passphrase)
        } catch {
            throw Self.error(error, hasPassphrase: !passphrase.isEmpty)
        }
        try self.init(contents)
    }

    init(_ contents: PKCS12Contents) throws(GatewayCredentialError) {
        guard !contents.privateKeys.isEmpty else {
            throw Self.error(
                .missing,
                "it holds no private key: export certificate and private key together (in Keychain Access, open the certificate and select both)"
            )
        }
        guard !contents.certificates.isEmpty else {
            throw Self.error(.missing, "it holds no certificate: export certificate and private key together")
        }
        let certificates = contents.certificates.compactMap { try? Certificate(derEncoded: $0) }
        guard certificates.count == contents.certificates.count else {
            throw Self.error(.malformed, "a certificate in it is damaged: export it anew")
        }
        guard let (key, leaf) = Self.pair(contents.privateKeys, certificates) else {
            throw Self.error(
                .malformed,
                "no private key in it belongs to a certificate in it, or it is of a kind that TLS does not use: export the certificate together with its own key"
            )
        }
        let order = Self.chain(from: leaf, certificates)
        do {
            privateKey = try NIOSSLPrivateKey(bytes: key, format: .der)
            certificateChain = try order.map { try NIOSSLCertificate(bytes: contents.certificates[$0], format: .der) }
        } catch {
            throw Self.error(.malformed, "its certificate or key cannot be used for TLS: export it anew")
        }
        let certificate = certificates[leaf]
        let marks = AppleCertificateMarks(certificate)
        name = marks.name
        topics = marks.topics
        notBefore = certificate.notValidBefore
        notAfter = certificate.notValidAfter
        fingerprint = Self.hexadecimal(SHA256.hash(data: contents.certificates[leaf]))
        namesBothEnvironments = marks.isSandbox && marks.isProduction
        // One that names no environment forbids none.
        allowsSandbox = marks.isSandbox || !marks.isProduction
        allowsProduction = marks.isProduction || !marks.isSandbox
    }

    /// Name and fingerprint, nothing of the key.
    public var description: String { "certificate \"\(name)\" (\(fingerprint.prefix(16)))" }

    /// Nothing of the material.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The first key that belongs to a certificate, and the number of that certificate.
    private static func pair(_ keys: [[UInt8]], _ certificates: [Certificate]) -> (key: [UInt8], leaf: Int)? {
        for bytes in keys {
            guard let key = try? Certificate.PrivateKey(derBytes: bytes) else { continue }
            if let leaf = certificates.firstIndex(where: { $0.publicKey == key.publicKey }) { return (bytes, leaf) }
        }
        return nil
    }

    /// The certificate and its signers in TLS' order, without a root, which the other side has.
    private static func chain(from leaf: Int, _ certificates: [Certificate]) -> [Int] {
        var order = [leaf]
        while let last = order.last, certificates[last].issuer != certificates[last].subject,
            let signer = certificates.indices.first(where: {
                !order.contains($0) && certificates[$0].subject == certificates[last].issuer
            }), certificates[signer].issuer != certificates[signer].subject
        {
            order.append(signer)
        }
        return order
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
