/// A gateway whose answers have rows, by the name that people look it up by.
package struct AnswerGateway: RawRepresentable, Sendable, Hashable, Codable, CaseIterable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// All gateways that ``AnswerTable/gateways`` has rows for.
    package static var allCases: [AnswerGateway] { AnswerTable.gateways.map(\.gateway) }

    /// APNs' provider API over HTTP/2.
    package static let apnsHTTP2 = AnswerGateway(rawValue: "apns-http2")
    /// APNs' binary protocol and its feedback service.
    package static let apnsBinary = AnswerGateway(rawValue: "apns-binary")
    /// FCM's HTTP v1 API.
    package static let fcmV1 = AnswerGateway(rawValue: "fcm-v1")
    /// FCM's legacy HTTP API.
    package static let fcmLegacy = AnswerGateway(rawValue: "fcm-legacy")
}
