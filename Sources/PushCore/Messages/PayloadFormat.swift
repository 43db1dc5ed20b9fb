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

    /// The format of a connector with a credential; the usual one without a credential that the connector accepts.
    package init(connector: Connector, credential: CredentialKind? = nil) {
        let facts = connector.facts
        self = credential.flatMap { facts.formats[$0] } ?? facts.usualFormat
    }

    /// The platform whose section of the content it uses.
    package var platform: Platform {
        switch self {
        case .apns, .apnsBinary: .ios
        case .fcmV1, .fcmLegacy: .android
        }
    }
}
