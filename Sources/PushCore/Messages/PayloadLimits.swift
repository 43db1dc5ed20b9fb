/// The maximum payload of each gateway, in bytes.
package enum PayloadLimits {
    /// APNs over HTTP/2: the whole body (Apple, "Generating a remote notification").
    package static let apns = 4096
    /// APNs over HTTP/2 with push type `voip`: the whole body.
    package static let voip = 5120
    /// FCM: names and values of `data` and `notification` (Firebase, "About FCM messages"); see
    /// ``PayloadTemplate/render(row:fields:tokens:messageID:sequence:into:)``.
    package static let fcm = 4096
    /// APNs binary protocol: the whole payload (Apple, "Binary Provider API").
    package static let binary = 2048

    /// The limit of a format for a push type.
    package static func limit(format: PayloadFormat, pushType: PushType) -> Int {
        switch format {
        case .apnsBinary: binary
        case .apns: pushType == .voip ? voip : apns
        case .fcmV1, .fcmLegacy: fcm
        }
    }

    /// The reason recorded for a message whose payload is too long.
    ///
    /// It begins with the reason that APNs itself gives, so that statistics count both under one reason.
    package static func tooLongReason(limit: Int) -> String {
        """
        PayloadTooLarge: the payload has more than the \(limit) bytes that the gateway takes; \
        shorten the content or the values of its fields
        """
    }
}
