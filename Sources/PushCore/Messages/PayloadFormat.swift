/// The format of a payload; the connector and the kind of credential determine it.
package enum PayloadFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// APNs over HTTP/2: the body is the payload.
    case apns
    /// APNs binary protocol: the same with at most 2,048 bytes and without rich content.
    case apnsBinary = "apns-binary"
    /// FCM HTTP v1: `{"message":{"token":…}}`, including the token.
    case fcmV1 = "fcm-v1"
    /// FCM legacy HTTP: a JSON object without `to` and `registration_ids`. The gateway client adds them, so that
    /// messages with equal bodies can share a request.
    case fcmLegacy = "fcm-legacy"

    /// The format of a connector. For FCM it also depends on the credential: a project key means legacy HTTP.
    package init(connector: Connector, usesProjectKey: Bool = false) {
        let facts = connector.facts
        self = (usesProjectKey ? facts.formats[.fcmProjectKey] : nil) ?? facts.usualFormat
    }

    /// The platform whose section of the content it uses.
    package var platform: Platform {
        switch self {
        case .apns, .apnsBinary: .ios
        case .fcmV1, .fcmLegacy: .android
        }
    }

    /// Whether messages with equal bodies share a request, so that batches are as large as can be.
    package var sharesRequests: Bool { self == .fcmLegacy }
}
