import SwiftASN1

/// The kind of credential that DER bytes hold, found from their structure rather than their label.
enum KeyForm {
    /// A private key on P-256: its 32 bytes.
    case p256([UInt8])
    /// A private key on another curve: its name, or its object identifier.
    case otherCurve(String)
    /// A private RSA key: as PKCS#1.
    case rsa([UInt8])
    /// A private key of another kind: its object identifier.
    case other(String)
    /// A private key protected by a passphrase.
    case encrypted
    case publicKey
    case certificate
    case pkcs12
    case unknown

    private static let ellipticKey: ASN1ObjectIdentifier = [1, 2, 840, 10045, 2, 1]
    private static let rsaKey: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
    private static let p256Curve: ASN1ObjectIdentifier = [1, 2, 840, 10045, 3, 1, 7]
    private static let curves: [(ASN1ObjectIdentifier, String)] = [
        ([1, 3, 132, 0, 34], "P-384"), ([1, 3, 132, 0, 35], "P-521"), ([1, 3, 132, 0, 10], "secp256k1"),
        ([1, 2, 840, 10045, 3, 1, 1], "P-192"), ([1, 3, 132, 0, 33], "P-224"),
    ]

    init(der: [UInt8]) {
        guard let root = try? DER.parse(der), root.identifier == .sequence else {
            self = .unknown
            return
        }
        let parts = Self.parts(root)
        switch parts.first?.identifier {
        case .integer: self = Self.numbered(der, parts)
        case .sequence where parts.count == 2 && parts[1].identifier == .octetString: self = .encrypted
        case .sequence where parts.count == 2 && parts[1].identifier == .bitString: self = .publicKey
        case .sequence where parts.count == 3 && parts[2].identifier == .bitString: self = .certificate
        default: self = .unknown
        }
    }

    /// A structure that begins with a version.
    private static func numbered(_ der: [UInt8], _ parts: [ASN1Node]) -> KeyForm {
        guard parts.count > 1 else { return .unknown }
        switch (number(parts[0]), parts[1].identifier) {
        case ([0], .sequence), ([1], .sequence): return parts.count > 2 ? pkcs8(parts) : .unknown
        case ([1], .octetString): return elliptic(parts, nil)
        case ([3], .sequence): return .pkcs12
        case ([0], .integer) where parts.count >= 9: return .rsa(der)
        default: return .unknown
        }
    }

    /// PKCS#8 (RFC 5958): version, algorithm, key.
    private static func pkcs8(_ parts: [ASN1Node]) -> KeyForm {
        let algorithm = Self.parts(parts[1])
        guard let first = algorithm.first, let kind = try? ASN1ObjectIdentifier(derEncoded: first),
            case .primitive(let key) = parts[2].content, parts[2].identifier == .octetString
        else { return .unknown }
        switch kind {
        case rsaKey: return .rsa(Array(key))
        case ellipticKey:
            guard let inner = try? DER.parse(key) else { return .unknown }
            return elliptic(Self.parts(inner), algorithm.count > 1 ? algorithm[1] : nil)
        default: return .other("\(kind)")
        }
    }

    /// A key of SEC 1 (RFC 5915): version, key, and the curve unless it is given outside.
    private static func elliptic(_ parts: [ASN1Node], _ outer: ASN1Node?) -> KeyForm {
        guard parts.count > 1, case .primitive(let key) = parts[1].content else { return .unknown }
        let inner = parts.dropFirst(2).first { $0.identifier == .init(tagWithNumber: 0, tagClass: .contextSpecific) }
        guard let curve = outer ?? inner.flatMap({ Self.parts($0).first }) else { return .unknown }
        if let name = try? ASN1ObjectIdentifier(derEncoded: curve) {
            guard name == p256Curve else {
                return .otherCurve(curves.first { $0.0 == name }?.1 ?? "\(name)")
            }
        } else if !P256Parameters.are(curve) {
            return .otherCurve("of its own parameters")
        }
        let number = Array(key.drop { $0 == 0 })
        guard !number.isEmpty, number.count <= 32 else { return .unknown }
        return .p256([UInt8](repeating: 0, count: 32 - number.count) + number)
    }

    fileprivate static func parts(_ node: ASN1Node) -> [ASN1Node] {
        guard case .constructed(let parts) = node.content else { return [] }
        return Array(parts)
    }

    fileprivate static func number(_ node: ASN1Node) -> [UInt8] {
        guard case .primitive(let bytes) = node.content else { return [] }
        return bytes.count > 1 ? Array(bytes.drop { $0 == 0 }) : Array(bytes)
    }
}

/// P-256 as explicit parameters (SEC 1, appendix C.2), as OpenSSL writes it with `-param_enc explicit`.
private enum P256Parameters {
    private static let prime = bytes("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF")
    private static let a = bytes("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFC")
    private static let b = bytes("5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B")
    private static let baseX = bytes("6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296")
    private static let order = bytes("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")

    /// Whether a curve's parameters are P-256's.
    static func are(_ curve: ASN1Node) -> Bool {
        let parts = KeyForm.parts(curve)
        guard parts.count >= 5 else { return false }
        let field = KeyForm.parts(parts[1])
        let coefficients = KeyForm.parts(parts[2])
        guard field.count == 2, coefficients.count >= 2 else { return false }
        let base = KeyForm.number(parts[3])
        return KeyForm.number(field[1]) == prime && KeyForm.number(coefficients[0]) == a
            && KeyForm.number(coefficients[1]) == b && KeyForm.number(parts[4]) == order
            && base.dropFirst().prefix(32).elementsEqual(baseX)
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        var result: [UInt8] = []
        var rest = Substring(digits)
        while !rest.isEmpty {
            result.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return result
    }
}
