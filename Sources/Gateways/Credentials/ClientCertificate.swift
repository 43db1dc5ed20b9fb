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

/// A certificate with its private key, with which an application authenticates to APNs: the contents of a `.p12` file,
/// or of a PEM file with both.
package struct ClientCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    /// The certificate, followed by as much of its issuer chain as the file holds.
    package let certificateChain: [NIOSSLCertificate]
    package let privateKey: NIOSSLPrivateKey
    /// The subject's name, to be shown.
    package let name: String
    /// The start of its validity.
    package let notBefore: Date
    /// The end of its validity.
    package let notAfter: Date
    /// The certificate's SHA-256 fingerprint in hexadecimal digits.
    package let fingerprint: String
    /// The topics that it may send to; empty if it names none, as a certificate for a simulated gateway may.
    package let topics: [String]
    /// Whether it may be used in APNs' sandbox.
    package let allowsSandbox: Bool
    /// Whether it may be used in APNs' production environment.
    package let allowsProduction: Bool
    /// Whether it declares itself for sandbox and production, as Apple's current certificates do.
    package let namesBothEnvironments: Bool

    /// Reads a `.p12` file, including those of old tools (40-bit RC2, triple DES), or a PEM file with certificate and
    /// key.
    ///
    /// Of several certificates with keys it picks the one that is valid longest, and prefers those that are valid now.
    /// It does not refuse an expired one; see ``requireValidity(at:)``.
    ///
    /// - Parameters:
    ///   - passphrase: "" for none.
    ///   - now: the time for the choice between several certificates.
    /// - Throws: `GatewayCredentialError` that says what is wrong and what to do, never anything of the material.
    package init(file: [UInt8], passphrase: String, now: Date = Date()) throws(GatewayCredentialError) {
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
            // OpenSSL may write P-256 as explicit parameters, which the TLS library does not read.
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
        // The file may also hold certificates whose keys (RSA of 1,024 bits, Ed448, Brainpool) the library does not
        // support.
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
            throw Self.error(.malformed, "its certificate or key cannot be used for TLS: export it again")
        }
        let certificate = certificates[leaf]
        let marks = AppleCertificateMarks(certificate)
        name = marks.name
        topics = marks.topics
        notBefore = certificate.notValidBefore
        notAfter = certificate.notValidAfter
        fingerprint = Self.hexadecimal(SHA256.hash(data: known[leaf].0))
        namesBothEnvironments = marks.isSandbox && marks.isProduction
        // A certificate that names no environment forbids none.
        allowsSandbox = marks.isSandbox || !marks.isProduction
        allowsProduction = marks.isProduction || !marks.isSandbox
    }

    /// Name and fingerprint, without the key.
    package var description: String { "certificate \"\(name)\" (\(fingerprint.prefix(16)))" }

    /// Shows none of the material.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The key and the index of its certificate; of several, one that is valid now and valid longest.
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
        // The first of equals, in the file's order.
        return pairs.max { worth($0.leaf) < worth($1.leaf) }
    }

    /// The certificate and its issuers in TLS order, without the root, which the server already has.
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

/// Checks of a certificate before it is used to connect.
extension ClientCertificate {
    /// Opens a file and requires it to be valid at a given time: an expired certificate is never presented to a
    /// gateway.
    package init(validAt now: Date, file: [UInt8], passphrase: String) throws(GatewayCredentialError) {
        try self.init(file: file, passphrase: passphrase, now: now)
        try requireValidity(at: now)
    }

    /// Checks that the certificate is valid at a given time.
    package func requireValidity(at now: Date) throws(GatewayCredentialError) {
        if now >= notAfter {
            throw Self.error(
                .expired,
                "it has expired on \(Self.day(notAfter)): create a new one in Apple's developer account and set it"
            )
        }
        if now < notBefore {
            throw Self.error(
                .expired,
                "it is not valid before \(Self.day(notBefore)): wait until then, or check the clocks of this machine and of the database host"
            )
        }
    }

    /// Checks that the certificate may be used in an environment.
    package func requireEnvironment(isSandbox: Bool) throws(GatewayCredentialError) {
        guard isSandbox ? allowsSandbox : allowsProduction else {
            let (given, wanted) = isSandbox ? ("production", "sandbox") : ("sandbox", "production")
            throw Self.error(
                .wrongApplication,
                "it is for the \(given) environment and the application is of the \(wanted) one: set the certificate of the \(wanted) environment"
            )
        }
    }

    /// Checks that the certificate may send to a bundle id; one that names no topics may send to any.
    package func requireTopic(_ bundleID: String) throws(GatewayCredentialError) {
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
                "it is not a PKCS#12 file, is damaged, or has more than \(PKCS12File.maxBytes) bytes: export certificate and private key as .p12, or give both in PEM"
            )
        case .wrongPassphrase:
            error(
                .wrongPassphrase,
                hasPassphrase
                    ? "the passphrase is not the one it was exported with: give that one"
                    : "it is protected with a passphrase and none was given: give the one it was exported with"
            )
        case .unsupported(let algorithm):
            error(
                .malformed,
                "it is protected in a way that is not supported (algorithm \(ReasonText.storable(algorithm))): export it again, for example with openssl pkcs12 -export"
            )
        case .noLegacyProvider(let cipher):
            error(
                .malformed,
                "it is encrypted with \(ReasonText.storable(cipher)), an old cipher that OpenSSL has in its legacy provider only, which cannot be loaded on this machine: install it (ossl-modules/legacy.so; in Debian 12 the package libssl3 holds it, later openssl-provider-legacy), or open the file on a machine that has it and export it again with openssl pkcs12 -export"
            )
        case .tooSlow:
            error(
                .malformed,
                "its passphrase is protected with more than \(PKCS12File.maxRounds) rounds: export it again with fewer"
            )
        case .noOpenSSL:
            error(
                .malformed,
                "OpenSSL, which reads it, does not work on this machine: check the program with openssl version -a"
            )
        }
    }

    static func error(_ code: GatewayCredentialError.Code, _ what: String) -> GatewayCredentialError {
        GatewayCredentialError(code, "the certificate cannot be used: \(what)")
    }

    /// A date and time in UTC, such as `2026-11-21 10:00 UTC`.
    static func day(_ date: Date) -> String {
        let text = date.formatted(.iso8601)
        return text.prefix(10) + " " + text.dropFirst(11).prefix(5) + " UTC"
    }
}

/// What a certificate from Apple says about its use (*Establishing a certificate-based connection to APNs*).
struct AppleCertificateMarks {
    private static let sandbox: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 1]
    private static let production: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 2]
    private static let topicLists: [ASN1ObjectIdentifier] = [
        [1, 2, 840, 113635, 100, 6, 3, 6], [1, 2, 840, 113635, 100, 6, 3, 4],
    ]
    private static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    /// The subject's common name, or its UID if it has none.
    let name: String
    /// The topics of the extensions; without those, the subject's UID, which is the bundle id.
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

    /// The topics of an extension: a list in which each topic is followed by its kinds of pushes, or a single topic.
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

/// A `.p12` file and its passphrase, sealed together because neither is useful alone.
package struct SealedCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    private struct Fields: Codable {
        var pkcs12: Data
        var passphrase: String
    }

    package let pkcs12: [UInt8]
    /// Its passphrase, "" for none.
    package let passphrase: String

    package init(pkcs12: [UInt8], passphrase: String) {
        self.pkcs12 = pkcs12
        self.passphrase = passphrase
    }

    /// Extracts both from the unsealed material.
    package init(material: [UInt8]) throws(GatewayCredentialError) {
        guard let fields = try? JSONBody.decode(Fields.self, from: material) else {
            throw ClientCertificate.error(.malformed, "it is stored in an unknown form: set it again")
        }
        self.init(pkcs12: Array(fields.pkcs12), passphrase: fields.passphrase)
    }

    /// The material to seal: a JSON object with the file in base64 and the passphrase.
    package var material: [UInt8] {
        // Data and text can always be encoded as JSON, so this cannot fail.
        (try? JSONEncoder().encode(Fields(pkcs12: Data(pkcs12), passphrase: passphrase))).map(Array.init) ?? []
    }

    /// Shows neither file nor passphrase.
    package var description: String { "APNs certificate" }

    /// Shows neither file nor passphrase.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
