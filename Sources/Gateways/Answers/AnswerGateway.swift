import PushCore

/// The gateways whose answers the answer table knows.
public enum AnswerGateway: String, Sendable, Hashable, Codable, CaseIterable {
    /// APNs' provider API over HTTP/2.
    case apnsHTTP2 = "apns-http2"
    /// APNs' binary protocol and its feedback service.
    case apnsBinary = "apns-binary"
    /// FCM's HTTP v1 API.
    case fcmV1 = "fcm-v1"
    /// FCM's legacy HTTP API.
    case fcmLegacy = "fcm-legacy"
}

extension AnswerGateway {
    /// The gateway that takes payloads of this format.
    public init(_ format: PayloadFormat) {
        switch format {
        case .apns: self = .apnsHTTP2
        case .apnsBinary: self = .apnsBinary
        case .fcmV1: self = .fcmV1
        case .fcmLegacy: self = .fcmLegacy
        }
    }
}
