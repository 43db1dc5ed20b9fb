import Foundation
import Gateways
import PushCore

/// The one message that a gateway is tried with.
struct ProbeMessage: Sendable {
    /// Push tokens consist of letters, digits and these; others would break out of path or JSON.
    private static let tokenMarks: Set<Character> = [":", "-", "_", ".", "%"]

    /// What a device token of APNs looks like that no device has.
    private static let noDevice = String(repeating: "0", count: 64)

    /// The format of the body.
    let format: PayloadFormat
    /// The push token; nil for one that belongs to no device.
    let token: String?
    /// A text to show; nil for a message that nobody sees.
    let alert: String?

    /// Whether a text can be a push token.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 4_096
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || tokenMarks.contains($0)) }
    }

    /// The message as a gateway takes it.
    func batch() -> GatewayRequestBatch {
        let text = token ?? (format.platform == .ios ? Self.noDevice : "no-device")
        var tokens = ByteColumn()
        tokens.append(text.utf8)
        var bodies = ByteColumn()
        bodies.append(body(text).utf8)
        return GatewayRequestBatch(
            id: 1,
            tokens: tokens,
            messageIDs: [MessageUUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))],
            bodies: bodies,
            attributes: alert == nil && format.platform == .ios
                ? MessageAttributes(pushType: .background, priority: 5, expirationSeconds: 0)
                : MessageAttributes(expirationSeconds: 0)
        )
    }

    /// FCM is asked to check only; APNs has no such thing, so the device is woken without showing anything.
    private func body(_ token: String) -> String {
        switch format {
        case .apns, .apnsBinary:
            let silent = #"{"aps":{"content-available":1}}"#
            guard let alert, let json = try? JSONEncoder().encode(["aps": ["alert": alert]]) else { return silent }
            return String(decoding: json, as: UTF8.self)
        case .fcmV1:
            return #"{"validate_only":true,"message":{"token":"\#(token)","data":{"pushmta":"test"}}}"#
        case .fcmLegacy:
            return #"{"dry_run":true,"data":{"pushmta":"test"}}"#
        }
    }
}
