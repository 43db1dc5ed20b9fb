import Crypto
import NIOSSL
import PushCore
import SwiftASN1
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A certificate with its private key, which an application proves itself with to APNs: the contents of a `.p12` file, or of a PEM file
/// with both.
public struct ClientCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    /// The certificate, then those that signed it as far as the file has them.
    public let certificateChain: [NIOSSLCertificate]
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

    /// Reads a `.p12` file, those of old tools (40-bit RC2, triple DES) included, or a PEM file with certificate and key.
    ///
    /// Of several certificates of its keys it takes the one that is good the longest, and prefers those that are good now. Whether the time
    /// of all is over is not asked here, see ``requireValidity(at:)``.
    ///
    /// - Parameters:
    ///   - passphrase: "" for none.
    ///   - now: the time for the choice between several certificates.
    /// - Throws: `GatewayCredentialError` that says what is wrong and what to do, never anything of the material.
    public init(file: [UInt8], passphrase: String, now: Date = Date()) throws(GatewayCredentialError) {
        let pem = PEMFile(file)
        guard pem.blocks.isEmpty else {
            try self.init(try Self.contents(pem), now: now)
            return
        }
        let contents: PKCS12File.Contents
        do throws(PKCS12File.Problem) {
            contents = try PKCS12File.read(file, passphrase: passphrase)
        } catch {
            if error == .malformed, let fault = MaterialFault.certificate(file) { throw Self.error(.malformed, fault) }
            throw Self.error(error, hasPassphrase: !passphrase.isEmpty)
        }
        try self.init(contents, now: now)
    }

    /// What a PEM file holds.
    private static func contents(_ file: PEMFile) throws(GatewayCredentialError) -> PKCS12File.Contents {
        var contents = PKCS12File.Contents()
        contents.certificates = file.blocks.filter(\.isCertificate).map(\.der)
        guard file.blocks.contains(where: \.isPrivateKey) else { return contents }
        if let fault = MaterialFault.key(file) { throw error(.malformed, fault) }
        contents.privateKeys = file.blocks.filter(\.isPrivateKey).map { block in
            // OpenSSL may write P-256 out as its numbers, which TLS' library does not read.
            if case .p256(let number) = KeyForm(der: block.der),
                let key = try? P256.Signing.PrivateKey(rawRepresentation: number)
            {
                return PEMDocument(type: "PRIVATE KEY", derBytes: Array(key.derRepresentation))
            }
            return PEMDocument(type: block.label, derBytes: block.der)
        }
        return contents
    }

    init(_ contents: PKCS12File.Contents, now: Date = Date()) throws(GatewayCredentialError) {
        guard !contents.privateKeys.isEmpty else {
            throw Self.error(
                .missing,
                "it holds no private key: export certificate and private key together (in Keychain Access, open the certificate and select both)"
            )
        }
        guard !contents.certificates.isEmpty else {
            throw Self.error(.missing, "it holds no certificate: export certificate and private key together")
        }
        // Others may stand beside ours whose keys (RSA of 1,024 bits, Ed448, Brainpool) the library does not know.
        let known = contents.certificates.compactMap { der in (try? Certificate(derEncoded: der)).map { (der, $0) } }
        let certificates = known.map(\.1)
        guard let (key, leaf) = Self.pair(contents.privateKeys, certificates, now) else {
            let others = contents.certificates.count - certificates.count
            throw Self.error(
                .malformed,
                others > 0
                    ? "none of its private keys belongs to a certificate in it that can be used; \(others) of its certificates cannot be read, or have keys that TLS does not support here (RSA under 2,048 bits, Ed448, Brainpool): export the certificate together with its own key"
                    : "none of its private keys belongs to a certificate in it, or TLS does not support the key: export the certificate together with its own key"
            )
        }
        let order = Self.chain(from: leaf, certificates)
        do {
            privateKey = try NIOSSLPrivateKey(bytes: Array(key.pemString.utf8), format: .pem)
            certificateChain = try order.map { try NIOSSLCertificate(bytes: known[$0].0, format: .der) }
        } catch {
            throw Self.error(.malformed, "its certificate or key cannot be used for TLS: export it anew")
        }
        let certificate = certificates[leaf]
        let marks = AppleCertificateMarks(certificate)
        name = marks.name
        topics = marks.topics
        notBefore = certificate.notValidBefore
        notAfter = certificate.notValidAfter
        fingerprint = Self.hexadecimal(SHA256.hash(data: known[leaf].0))
        namesBothEnvironments = marks.isSandbox && marks.isProduction
        // One that names no environment forbids none.
        allowsSandbox = marks.isSandbox || !marks.isProduction
        allowsProduction = marks.isProduction || !marks.isSandbox
    }

    /// Name and fingerprint, nothing of the key.
    public var description: String { "certificate \"\(name)\" (\(fingerprint.prefix(16)))" }

    /// Shows nothing of the material.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The key and the number of the certificate that it belongs to: of several that which is good now, and the longest.
    private static func pair(
        _ keys: [PEMDocument],
        _ certificates: [Certificate],
        _ now: Date
    ) -> (key: PEMDocument, leaf: Int)? {
        var pairs: [(key: PEMDocument, leaf: Int)] = []
        for document in keys {
            guard let key = try? Certificate.PrivateKey(pemDocument: document) else { continue }
            for (leaf, certificate) in certificates.enumerated() where certificate.publicKey == key.publicKey {
                pairs.append((document, leaf))
            }
        }
        func worth(_ leaf: Int) -> (Int, Date) {
            let certificate = certificates[leaf]
            let isGood = certificate.notValidBefore <= now && now < certificate.notValidAfter
            return (isGood ? 1 : 0, certificate.notValidAfter)
        }
        // The first of equals, as the file has them.
        return pairs.max { worth($0.leaf) < worth($1.leaf) }
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

/// What can be said against a certificate before anybody connects with it.
extension ClientCertificate {
    /// Checks that the certificate is good at a moment.
    public func requireValidity(at now: Date) throws(GatewayCredentialError) {
        if now >= notAfter {
            throw Self.error(
                .expired,
                "it has expired on \(Self.day(notAfter)): make a new one in Apple's developer account and set it"
            )
        }
        if now < notBefore {
            throw Self.error(
                .expired,
                "it is good from \(Self.day(notBefore)) on only: wait until then, or check the clock of this machine and of the database's"
            )
        }
    }

    /// Checks that the certificate may be used in an environment.
    public func requireEnvironment(isSandbox: Bool) throws(GatewayCredentialError) {
        guard isSandbox ? allowsSandbox : allowsProduction else {
            let (given, wanted) = isSandbox ? ("production", "sandbox") : ("sandbox", "production")
            throw Self.error(
                .wrongApplication,
                "it is for the \(given) environment and the application is of the \(wanted) one: set the certificate of the \(wanted) environment"
            )
        }
    }

    /// Checks that the certificate may send to a bundle id; one that names no topics may send to any.
    public func requireTopic(_ bundleID: String) throws(GatewayCredentialError) {
        guard !topics.isEmpty, !topics.contains(bundleID), !topics.contains(where: { $0.hasPrefix(bundleID + ".") })
        else { return }
        throw Self.error(
            .wrongApplication,
            "it may send to \(topics.prefix(5).joined(separator: ", ")) and the application's bundle id is \(bundleID): set the certificate of this application, or correct its bundle id"
        )
    }

    static func error(_ problem: PKCS12File.Problem, hasPassphrase: Bool) -> GatewayCredentialError {
        switch problem {
        case .malformed:
            error(
                .malformed,
                "it is not a PKCS#12 file, is damaged, or has more than \(PKCS12File.mostBytes) bytes: export certificate and private key as .p12, or give both in PEM"
            )
        case .wrongPassphrase:
            error(
                .wrongPassphrase,
                hasPassphrase
                    ? "the passphrase is not the one that it was exported with: give that one"
                    : "it is protected with a passphrase and none was given: give the one that it was exported with"
            )
        case .unsupported(let algorithm):
            error(
                .malformed,
                "it is protected in a way that is not supported (algorithm \(ReasonText.storable(algorithm))): export it anew, for example with openssl pkcs12 -export"
            )
        case .noLegacyProvider(let cipher):
            error(
                .malformed,
                "it is encrypted with \(ReasonText.storable(cipher)), an old cipher that OpenSSL has in its legacy provider only, which cannot be loaded on this machine: install it (ossl-modules/legacy.so; in Debian 12 the package libssl3 holds it, later openssl-provider-legacy), or open the file where it is and export it anew with openssl pkcs12 -export"
            )
        case .tooSlow:
            error(
                .malformed,
                "its passphrase is protected with more than \(PKCS12File.mostRounds) rounds: export it anew with fewer"
            )
        case .noOpenSSL:
            error(
                .malformed,
                "OpenSSL, which reads it, does not work on this machine: check that its program does, with openssl version -a"
            )
        }
    }

    static func error(_ code: GatewayCredentialError.Code, _ what: String) -> GatewayCredentialError {
        GatewayCredentialError(code, "the certificate cannot be used: \(what)")
    }

    /// A moment's day and time in UTC, as `2026-11-21 10:00 UTC`.
    static func day(_ date: Date) -> String {
        let text = date.formatted(.iso8601)
        return text.prefix(10) + " " + text.dropFirst(11).prefix(5) + " UTC"
    }
}

/// What a certificate of Apple says about its use (*Establishing a certificate-based connection to APNs*).
struct AppleCertificateMarks {
    private static let sandbox: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 1]
    private static let production: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 2]
    private static let topicLists: [ASN1ObjectIdentifier] = [
        [1, 2, 840, 113635, 100, 6, 3, 6], [1, 2, 840, 113635, 100, 6, 3, 4],
    ]
    private static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    /// The subject's common name, its UID without one.
    let name: String
    /// The topics of the extensions, or the subject's UID, which is the bundle id, without those.
    let topics: [String]
    let isSandbox: Bool
    let isProduction: Bool

    init(_ certificate: Certificate) {
        var names: [ASN1ObjectIdentifier: String] = [:]
        for relative in certificate.subject {
            for attribute in relative { names[attribute.type] = String(attribute.value) }
        }
        let user = names[Self.userID] ?? ""
        name = ReasonText.storable(names[.RDNAttributeType.commonName] ?? user)
        isSandbox = certificate.extensions[oid: Self.sandbox] != nil
        isProduction = certificate.extensions[oid: Self.production] != nil
        var found: [String] = []
        for oid in Self.topicLists {
            guard let list = certificate.extensions[oid: oid] else { continue }
            for topic in Self.topics(list.value) where !found.contains(topic) { found.append(topic) }
        }
        topics = found.isEmpty && !user.isEmpty ? [ReasonText.storable(user)] : found
    }

    /// The topics of an extension: a list in which each is followed by the kinds of pushes that it is for, or one alone.
    private static func topics(_ bytes: ArraySlice<UInt8>) -> [String] {
        guard let node = try? DER.parse(bytes) else { return [] }
        if let topic = topic(node) { return [topic] }
        guard node.identifier == .sequence, case .constructed(let parts) = node.content else { return [] }
        return parts.compactMap(topic)
    }

    private static func topic(_ node: ASN1Node) -> String? {
        guard node.identifier == .utf8String, case .primitive(let bytes) = node.content else { return nil }
        return ReasonText.storable(String(decoding: bytes, as: UTF8.self))
    }
}

/// A `.p12` file and its passphrase as they are sealed together: one without the other is of no use.
public struct SealedCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    private struct Fields: Codable {
        var pkcs12: Data
        var passphrase: String
    }

    public let pkcs12: [UInt8]
    /// Its passphrase, "" for none.
    public let passphrase: String

    public init(pkcs12: [UInt8], passphrase: String) {
        self.pkcs12 = pkcs12
        self.passphrase = passphrase
    }

    /// Takes both out of the material that was sealed.
    public init(material: [UInt8]) throws(GatewayCredentialError) {
        guard let fields = try? JSONBody.decode(Fields.self, from: material) else {
            throw ClientCertificate.error(.malformed, "it is stored in a form that is not known here: set it again")
        }
        self.init(pkcs12: Array(fields.pkcs12), passphrase: fields.passphrase)
    }

    /// The material to seal: a JSON object with the file in base64 and the passphrase.
    public var material: [UInt8] {
        // Data and text are always JSON, so that this cannot fail.
        (try? JSONEncoder().encode(Fields(pkcs12: Data(pkcs12), passphrase: passphrase))).map(Array.init) ?? []
    }

    /// Shows neither file nor passphrase.
    public var description: String { "APNs certificate" }

    /// Shows neither file nor passphrase.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
