import SwiftASN1

/// Reading BER, which exported files are written in, piece by piece.
extension ASN1Node {
    /// Reads the one value that the bytes are.
    static func ber(_ bytes: ArraySlice<UInt8>) throws(PKCS12Problem) -> ASN1Node {
        do { return try BER.parse(bytes) } catch { throw .malformed }
    }

    /// The parts of a value; those of a tagged one if a tag number is given.
    func parts(tag: UInt? = nil, atLeast count: Int = 0) throws(PKCS12Problem) -> [ASN1Node] {
        let wanted = tag.map { ASN1Identifier(tagWithNumber: $0, tagClass: .contextSpecific) } ?? .sequence
        guard identifier == wanted, case .constructed(let nodes) = content else { throw .malformed }
        let parts = Array(nodes)
        guard parts.count >= count else { throw .malformed }
        return parts
    }

    /// The bytes of an OCTET STRING, which may come in pieces; of one with an implicit tag if a tag number is given.
    func octets(tag: UInt? = nil) throws(PKCS12Problem) -> ArraySlice<UInt8> {
        let wanted = tag.map { ASN1Identifier(tagWithNumber: $0, tagClass: .contextSpecific) } ?? .octetString
        do { return try ASN1OctetString(berEncoded: self, withIdentifier: wanted).bytes } catch { throw .malformed }
    }

    /// The dotted form of an OBJECT IDENTIFIER.
    func oid() throws(PKCS12Problem) -> String {
        do { return try ASN1ObjectIdentifier(derEncoded: self).description } catch { throw .malformed }
    }

    /// A small INTEGER.
    func integer() throws(PKCS12Problem) -> Int {
        do { return try Int(derEncoded: self) } catch { throw .malformed }
    }
}
