/// How many bytes of payload each gateway takes.
public enum PayloadLimits {
    /// APNs over HTTP/2: the whole body (Apple, "Generating a remote notification").
    public static let apns = 4096
    /// APNs over HTTP/2 with push type `voip`: the whole body.
    public static let voip = 5120
    /// FCM: names and values of `data` and `notification` (Firebase, "About FCM messages"); see
    /// ``PayloadTemplate/render(row:fields:tokens:messageID:sequence:into:)``.
    public static let fcm = 4096
    /// APNs binary protocol: the whole payload (Apple, "Binary Provider API").
    public static let binary = 2048

    /// The limit of a format for a push type.
    public static func limit(format: PayloadFormat, pushType: PushType) -> Int {
        switch format {
        case .apnsBinary: binary
        case .apns: pushType == .voip ? voip : apns
        case .fcmV1, .fcmLegacy: fcm
        }
    }

    /// The reason to record for a message whose payload is too long.
    ///
    /// It begins with the word that APNs answers, so that both come out as one in statistics by reason.
    public static func tooLongReason(limit: Int) -> String {
        """
        PayloadTooLarge: the payload has more than the \(limit) bytes that the gateway takes; \
        shorten the content or the values of its fields
        """
    }
}
