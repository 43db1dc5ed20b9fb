/// The values of the header `apns-push-type` and what each of them implies (Apple, "Sending notification requests to
/// APNs").
public enum PushType: String, Sendable, Hashable, Codable, CaseIterable {
    case alert
    case background
    case location
    case voip
    case complication
    case fileprovider
    case pushtotalk
    case liveactivity
    case widgets
    case controls

    /// What is appended to the bundle id to make the header `apns-topic`.
    public var topicSuffix: String {
        switch self {
        case .alert, .background: ""
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .pushtotalk: ".voip-ptt"
        case .liveactivity: ".push-type.liveactivity"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// Whether no certificate may send it, whatever topics it carries (the same, "location": token-based authentication only).
    public var needsTokenAuthentication: Bool { self == .location }

    /// What has to be known of the push tokens that it goes to; nil for pushes to an app's ordinary token.
    ///
    /// PushKit, ActivityKit, WidgetKit and CoreLocation each give tokens of their own, and a subscription has one.
    public var tokenNotice: String? {
        guard !topicSuffix.isEmpty else { return nil }
        return
            "push type \(rawValue) goes to the topic <bundle id>\(topicSuffix), which has push tokens of its own: send it to "
            + "subscriptions that were registered with such a token, as the ordinary ones are refused"
    }
}
