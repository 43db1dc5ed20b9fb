import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A secret that signs what a webhook posts, as Standard Webhooks defines it: HMAC-SHA256 over id, time and body.
package struct WebhookSecret: Sendable, Hashable {
    private static let prefix = "whsec_"
    private static let length = 32

    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A new random secret.
    package init() {
        // The system's generator is cryptographically secure on every platform.
        bytes = (0..<Self.length).map { _ in UInt8.random(in: .min ... .max) }
    }

    /// The text that the receiver is given.
    package var text: String { Self.prefix + Data(bytes).base64EncodedString() }

    /// The value of the field `webhook-signature` for one secret.
    ///
    /// - Parameter timestamp: seconds since 1970.
    package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        let signed = Array("\(id).\(timestamp).".utf8) + body
        let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: bytes))
        return "v1," + Data(code).base64EncodedString()
    }
}
