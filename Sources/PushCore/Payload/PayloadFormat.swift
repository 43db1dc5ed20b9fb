/// The form in which a payload goes to its gateway; connector and kind of credential decide it.
public enum PayloadFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// APNs over HTTP/2: the body is the payload.
    case apns
    /// APNs binary protocol: the same within 2,048 bytes, and without rich content.
    case apnsBinary = "apns-binary"
    /// FCM HTTP v1: `{"message":{"token":…}}`, the token included.
    case fcmV1 = "fcm-v1"
    /// FCM legacy HTTP: a JSON object without `to` and `registration_ids`, which the gateway adds, so that messages
    /// with equal bodies can share a request.
    case fcmLegacy = "fcm-legacy"

    /// The format of a connector; FCM's depends on the credential besides: a project key is one of legacy HTTP.
    public init(connector: Connector, usesProjectKey: Bool = false) {
        switch connector {
        case .iosHTTP2: self = .apns
        case .iosBinary: self = .apnsBinary
        case .androidV1, .androidV2: self = usesProjectKey ? .fcmLegacy : .fcmV1
        }
    }

    /// The platform whose section of the content it takes.
    public var platform: Platform {
        switch self {
        case .apns, .apnsBinary: .ios
        case .fcmV1, .fcmLegacy: .android
        }
    }
}
