/// The values of the header `apns-push-type` and their consequences (Apple, "Sending notification requests to APNs").
package enum PushType: String, Sendable, Hashable, Codable, CaseIterable {
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

    /// The suffix of the bundle id in the header `apns-topic`.
    package var topicSuffix: String {
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

    /// Whether only token-based authentication may send it, whatever topics a certificate has (same source,
    /// "location").
    package var needsTokenAuthentication: Bool { self == .location }

    /// A notice about the push tokens that it needs; nil for push types that use the app's ordinary token.
    ///
    /// PushKit, ActivityKit, WidgetKit and CoreLocation each issue their own tokens, and a subscription has one token.
    package var tokenNotice: String? {
        guard !topicSuffix.isEmpty else { return nil }
        return
            "push type \(rawValue) goes to the topic <bundle id>\(topicSuffix), which has push tokens of its own: send it to "
            + "subscriptions that were registered with such a token, as ordinary tokens are refused"
    }
}
