import Foundation
import PushCore

/// The three parts of a JSON Web Token in compact form (RFC 7519), not yet trusted.
struct JWTParts {
    /// The signed bytes: header and claims.
    let signedBytes: Data
    let signature: Data
    private let headerBytes: Data
    private let claimBytes: Data

    /// Splits and decodes a token; nil if it is malformed.
    init?(_ token: some Collection<UInt8>) {
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]),
            let signature = Self.decode(parts[2])
        else { return nil }
        headerBytes = header
        claimBytes = claims
        self.signature = signature
        signedBytes = Data(token.prefix(parts[0].count + 1 + parts[1].count))
    }

    /// The header decoded as this type; nil if it does not fit.
    func header<Value: Decodable>(_ type: Value.Type) -> Value? {
        try? JSONBody.decode(type, from: headerBytes)
    }

    /// The claims decoded as this type; nil if they do not fit.
    func claims<Value: Decodable>(_ type: Value.Type) -> Value? {
        try? JSONBody.decode(type, from: claimBytes)
    }

    /// Decodes base64url without padding (RFC 4648 section 5).
    private static func decode(_ text: some Collection<UInt8>) -> Data? {
        var standard = text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(standard))
    }
}
