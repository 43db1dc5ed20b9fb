import PushCore

/// The way of a trial's messages: a connector, and what it proves itself with.
struct TrialRoute: Sendable, Hashable {
    /// What a sender proves itself with.
    enum Proof: String, Sendable, Hashable, CaseIterable {
        /// Apple's token key (`.p8`).
        case key
        /// A client certificate (`.p12`).
        case certificate
        /// Google's service account, and with it HTTP v1.
        case serviceAccount = "service-account"
        /// A project key, and with it legacy HTTP.
        case projectKey = "project-key"

        /// Those that a connector takes, the usual one first.
        static func all(_ connector: Connector) -> [Proof] {
            switch connector {
            case .iosHTTP2: [.key, .certificate]
            case .iosBinary: [.certificate]
            case .androidV1, .androidV2: [.serviceAccount, .projectKey]
            }
        }
    }

    /// The connector.
    let connector: Connector
    /// What the connector proves itself with.
    let proof: Proof

    /// A route; nil if the connector does not take that proof.
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
    static func usual(_ platform: Platform) -> TrialRoute {
        switch platform {
        case .ios: TrialRoute(usual: .iosHTTP2, .key)
        case .android: TrialRoute(usual: .androidV2, .serviceAccount)
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
