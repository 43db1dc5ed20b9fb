import SwiftASN1
import Testing

/// Re-encodes a PKCS#12 file as some tools write it: with indefinite lengths, and its contents in chunks.
enum IndefiniteLengths {
    static func rewrite(_ file: [UInt8]) throws -> [UInt8] {
        let parts = try parts(try DER.parse(file))
        let safe = try self.parts(parts[1])
        let content = try ASN1OctetString(derEncoded: try self.parts(safe[1])[0]).bytes
        var pieces: [UInt8] = []
        var rest = content
        while !rest.isEmpty {
            let piece = rest.prefix(100)
            pieces += [0x04, UInt8(piece.count)] + piece
            rest = rest.dropFirst(100)
        }
        let octets = [0x24, 0x80] + pieces + [0, 0]
        let tagged = [0xA0, 0x80] + octets + [0, 0]
        let info = [0x30, 0x80] + safe[0].encodedBytes + tagged + [0, 0]
        return [0x30, 0x80] + parts[0].encodedBytes + info + parts[2].encodedBytes + [0, 0]
    }

    private static func parts(_ node: ASN1Node) throws -> [ASN1Node] {
        guard case .constructed(let parts) = node.content else {
            Issue.record("a value without parts")
            return []
        }
        return Array(parts)
    }
}
