import SwiftASN1

@testable import Gateways

/// Writes a PKCS#12 file anew as some tools do: with indefinite lengths, and its contents in pieces.
enum IndefiniteLengths {
    static func rewrite(_ file: [UInt8]) throws -> [UInt8] {
        let parts = try ASN1Node.ber(file[...]).parts(atLeast: 3)
        let safe = try parts[1].parts(atLeast: 2)
        let content = try safe[1].parts(tag: 0)[0].octets()
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
}
