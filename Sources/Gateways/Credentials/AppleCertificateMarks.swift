import SwiftASN1
import X509

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
