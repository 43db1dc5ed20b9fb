/// A push gateway that is simulated.
package enum SimulatedGateway: String, Sendable, Codable, CaseIterable {
    /// Apple Push Notification service, HTTP/2 provider API.
    case apns
    /// Firebase Cloud Messaging, HTTP v1 API.
    case fcm
    /// Firebase Cloud Messaging, legacy HTTP protocol.
    case fcmLegacy = "fcm-legacy"
    /// Apple Push Notification service, binary protocol.
    case apnsBinary = "apns-binary"
}

extension SimulatedGateway {
    /// The reasons with which the gateway rejects pushes. Error rates and counters use these names.
    package var rejectionReasons: [String] { AnswerCatalog.of(self).rejections }
}
