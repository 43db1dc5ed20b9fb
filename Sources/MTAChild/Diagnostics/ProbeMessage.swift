import Gateways
import PushCore

/// The one message of a gateway's test.
enum ProbeMessage {
    /// Push tokens consist of letters, digits and these characters; others would break the path or the JSON.
    private static let tokenMarks: Set<Character> = [":", "-", "_", ".", "%"]

    /// Whether a text can be a push token.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 4_096
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || tokenMarks.contains($0)) }
    }

    /// The message as a request batch.
    static func batch(_ message: TrialMessage) -> GatewayRequestBatch {
        var tokens = ByteColumn()
        tokens.append(message.token.utf8)
        var bodies = ByteColumn()
        bodies.append(message.body.utf8)
        return GatewayRequestBatch(
            id: 1,
            tokens: tokens,
            messageIDs: [MessageUUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))],
            bodies: bodies,
            attributes: message.attributes
        )
    }
}
