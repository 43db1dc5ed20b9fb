/// The protocol that an external account speaks to its gateway.
package enum Connector: String, Sendable, Hashable, Codable, CaseIterable {
    /// APNs binary protocol (port 2195), payloads of at most 2,048 bytes.
    case iosBinary = "ios-binary"
    /// APNs provider API over HTTP/2.
    case iosHTTP2 = "ios-http2"
    /// FCM with one connection per MTA child.
    case androidV1 = "android-v1"
    /// FCM with up to `maxGCMConnectPerChild` connections in parallel per MTA child.
    case androidV2 = "android-v2"

    /// What is to be known of it.
    package var facts: ConnectorFacts { ConnectorFacts(self) }

    /// The platform whose applications this connector serves.
    package var platform: Platform { facts.platform }
}

/// What is to be known of a connector, in one place: its address, its credentials, the form of its payloads.
///
/// A new connector needs a row here. A `GatewayKind` makes its gateway.
package struct ConnectorFacts: Sendable {
    /// The platform whose applications it serves.
    package var platform: Platform
    /// The credentials that it takes, and the form of its payloads with each.
    package var formats: [CredentialKind: PayloadFormat]
    /// The form of its payloads as long as no credential says another.
    package var usualFormat: PayloadFormat
    /// The credentials that it takes, for people.
    package var credentialWords: String
    /// The hosts of the vendor's own gateway, for accounts that name no other.
    package var hosts: [ApplicationEnvironment: String]
    /// Other names of these hosts.
    package var otherHosts: [String] = []
    /// The ports on which they listen; the first one is the usual.
    package var ports: [Int] = [443]
    /// Whether the vendor has closed them: an account works with a stand-in only.
    package var isClosed = false
    /// Whether they have a feedback service beside, which names dead tokens.
    package var hasFeedbackService = false
    /// How many connections a child has, unless its account says otherwise.
    package var connections: ConnectionCount
    /// Whether an account may say otherwise.
    package var hasConnectionOption = true
    /// How Adobe's documentation names it; nil for a connector that Adobe Campaign does not have.
    package var alias: Alias?

    /// The file by which Adobe's documentation names a connector (`nms/jsp/…`), and the scheme before it.
    package struct Alias: Sendable {
        package var scheme: String
        package var file: String
    }

    /// How many connections a child has.
    package enum ConnectionCount: Sendable {
        case one
        /// As a setting of children says.
        case setting(@Sendable (ChildSettings) -> Int)

        /// The number.
        package func number(_ settings: ChildSettings) -> Int {
            switch self {
            case .one: 1
            case .setting(let number): number(settings)
            }
        }
    }

    fileprivate init(_ connector: Connector) {
        switch connector {
        case .iosHTTP2: self = Self.iosHTTP2
        case .iosBinary: self = Self.iosBinary
        case .androidV1: self = Self.androidV1
        case .androidV2: self = Self.androidV2
        }
    }

    private init(
        platform: Platform,
        formats: [CredentialKind: PayloadFormat],
        usualFormat: PayloadFormat,
        credentialWords: String,
        hosts: [ApplicationEnvironment: String],
        connections: ConnectionCount,
        alias: Alias?
    ) {
        self.platform = platform
        self.formats = formats
        self.usualFormat = usualFormat
        self.credentialWords = credentialWords
        self.hosts = hosts
        self.connections = connections
        self.alias = alias
    }

    private static let iosHTTP2: ConnectorFacts = {
        var facts = ConnectorFacts(
            platform: .ios,
            formats: [.apnsKey: .apns, .apnsCertificate: .apns],
            usualFormat: .apns,
            credentialWords: "an APNs key (.p8) or an APNs certificate (.p12)",
            hosts: [.production: "api.push.apple.com", .sandbox: "api.sandbox.push.apple.com"],
            connections: .setting { $0.maxAPNsConnectPerChild },
            alias: Alias(scheme: "http", file: "iosHTTP2.jsp")
        )
        facts.otherHosts = ["api.development.push.apple.com"]
        // 2197 is for networks that let nothing but 443's web traffic through (Apple, "Sending notification requests to APNs").
        facts.ports = [443, 2_197]
        return facts
    }()

    private static let iosBinary: ConnectorFacts = {
        var facts = ConnectorFacts(
            platform: .ios,
            formats: [.apnsCertificate: .apnsBinary],
            usualFormat: .apnsBinary,
            credentialWords: "an APNs certificate (.p12)",
            hosts: [.production: "gateway.push.apple.com", .sandbox: "gateway.sandbox.push.apple.com"],
            // One takes what a core makes, and the protocol has no answers that a second one would be needed for.
            connections: .one,
            alias: Alias(scheme: "https", file: "ios.jsp")
        )
        facts.ports = [2_195]
        facts.isClosed = true
        facts.hasFeedbackService = true
        return facts
    }()

    private static let androidV1: ConnectorFacts = {
        // One connection per child is what this connector is.
        var facts = android(.one, "androidPushConnector.js")
        facts.hasConnectionOption = false
        return facts
    }()

    private static let androidV2 = android(.setting { $0.maxGCMConnectPerChild }, "androidPushConnectorV2.js")

    private static func android(_ connections: ConnectionCount, _ file: String) -> ConnectorFacts {
        ConnectorFacts(
            platform: .android,
            formats: [.fcmServiceAccount: .fcmV1, .fcmProjectKey: .fcmLegacy],
            usualFormat: .fcmV1,
            credentialWords: "a service account (JSON file) or a project key",
            hosts: [.production: "fcm.googleapis.com", .sandbox: "fcm.googleapis.com"],
            connections: connections,
            alias: Alias(scheme: "https", file: file)
        )
    }
}
