import Foundation
import SwiftASN1
import X509

/// A sender's certificate, which was valid when the connection was opened.
final class APNsSenderCertificate {
    /// The topics that it may send to; empty means any.
    let topics: Set<String>
    /// The topic of the last push that passed; thousands of consecutive pushes have the same.
    private var lastTopic: [UInt8] = []

    private init(topics: Set<String>) {
        self.topics = topics
    }

    /// A certificate with a single topic needs no `apns-topic`.
    var hasOneTopic: Bool { topics.count == 1 }

    /// Whether the certificate allows a topic.
    func allows(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        if topics.isEmpty || Bytes.equal(bytes, range, lastTopic) { return true }
        guard topics.contains(Bytes.text(bytes, range)) else { return false }
        lastTopic = Array(bytes[range])
        return true
    }

    /// Judges a certificate as APNs does after the handshake, which itself accepts any.
    ///
    /// - Parameters:
    ///   - der: The certificate in DER.
    ///   - authority: The authority that must have signed it.
    static func judge(
        _ der: [UInt8],
        authority: Certificate,
        isSandbox: Bool,
        now: Date
    ) -> Result<APNsSenderCertificate, APNsRefusal> {
        guard let certificate = try? Certificate(derEncoded: der),
            authority.publicKey.isValidSignature(certificate.signature, for: certificate),
            certificate.notValidBefore <= now, now < certificate.notValidAfter
        else { return .failure(APNsRefusal(reason: .badCertificate)) }
        let mark = { certificate.extensions[oid: CertificateAuthority.pushMark($0)] != nil }
        let (sandbox, production) = (mark(1), mark(2))
        guard isSandbox ? sandbox || !production : production || !sandbox else {
            return .failure(APNsRefusal(reason: .badCertificateEnvironment))
        }
        let listed = [4, 6].compactMap { certificate.extensions[oid: CertificateAuthority.pushMark($0)] }
            .flatMap { strings($0.value) }
        return .success(APNsSenderCertificate(topics: Set(listed.isEmpty ? userIDs(certificate) : listed)))
    }

    private static func userIDs(_ certificate: Certificate) -> [String] {
        certificate.subject.flatMap {
            $0.compactMap { $0.type == CertificateAuthority.userID ? String($0.value) : nil }
        }
    }

    /// The strings of a list, or a single string. Nested lists are ignored.
    private static func strings(_ bytes: ArraySlice<UInt8>) -> [String] {
        guard let node = try? DER.parse(bytes) else { return [] }
        if case .constructed(let parts) = node.content { return parts.compactMap(string) }
        return [node].compactMap(string)
    }

    private static func string(_ node: ASN1Node) -> String? {
        guard node.identifier == .utf8String, case .primitive(let bytes) = node.content else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Why APNs refuses pushes on a connection.
struct APNsRefusal: Error {
    var reason: APNsReason
}
