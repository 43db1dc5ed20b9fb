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
