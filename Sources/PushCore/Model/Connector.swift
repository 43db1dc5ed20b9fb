/// The protocol that an external account speaks to its gateway.
public enum Connector: String, Sendable, Hashable, Codable, CaseIterable {
    /// APNs binary protocol (port 2195), payloads of at most 2,048 bytes.
    case iosBinary = "ios-binary"
    /// APNs provider API over HTTP/2.
    case iosHTTP2 = "ios-http2"
    /// FCM with one connection per MTA child.
    case androidV1 = "android-v1"
    /// FCM with up to `maxGCMConnectPerChild` connections in parallel per MTA child.
    case androidV2 = "android-v2"

    /// The platform whose applications this connector serves.
    public var platform: Platform {
        switch self {
        case .iosBinary, .iosHTTP2: .ios
        case .androidV1, .androidV2: .android
        }
    }
}
