import PushCore

/// The route of a test site's messages: a connector and its kind of credential.
struct TestRoute: Sendable, Hashable {
    /// A kind of credential.
    enum Proof: String, Sendable, Hashable, CaseIterable {
        /// Apple's token signing key (`.p8`).
        case key
        /// A client certificate (`.p12`).
        case certificate
        /// Google's service account, for HTTP v1.
        case serviceAccount = "service-account"
        /// A project key, for legacy HTTP.
        case projectKey = "project-key"

        /// The credentials that a connector accepts, the usual one first.
        static func all(_ connector: Connector) -> [Proof] {
            switch connector {
            case .iosHTTP2: [.key, .certificate]
            case .iosBinary: [.certificate]
            case .androidV1, .androidV2: [.serviceAccount, .projectKey]
            }
        }
    }

    let connector: Connector
    /// The connector's kind of credential.
    let proof: Proof

    /// A route; nil if the connector does not accept that credential.
    init?(_ connector: Connector, _ proof: Proof? = nil) {
        let all = Proof.all(connector)
        guard let proof = proof ?? all.first, all.contains(proof) else { return nil }
        self.connector = connector
        self.proof = proof
    }

    private init(usual connector: Connector, _ proof: Proof) {
        self.connector = connector
        self.proof = proof
    }

    /// The usual route of a platform.
    static func usual(_ platform: Platform) -> TestRoute {
        switch platform {
        case .ios: TestRoute(usual: .iosHTTP2, .key)
        case .android: TestRoute(usual: .androidV2, .serviceAccount)
        }
    }

    /// The platform of its applications.
    var platform: Platform { connector.platform }

    /// The gateway's name in the simulator.
    var gateway: String {
        switch (connector, proof) {
        case (.iosBinary, _): "apns-binary"
        case (_, .projectKey): "fcm-legacy"
        case (.iosHTTP2, _): "apns"
        case (.androidV1, _), (.androidV2, _): "fcm"
        }
    }
}
