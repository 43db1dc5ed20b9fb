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
}
