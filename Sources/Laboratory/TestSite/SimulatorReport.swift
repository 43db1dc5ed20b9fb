import Administration
import PushCore

/// What the simulator prints when it is ready: its addresses and credentials.
struct SimulatorReport: Sendable, Decodable, Equatable {
    struct Address: Sendable, Decodable, Equatable {
        let host: String
        let port: Int32
    }
    /// Credentials of the simulated APNs.
    struct APNsCredentials: Sendable, Decodable, Equatable {
        let keyFile: String
        let keyId: String
        let teamId: String
        let topics: [String]
        /// Certificates for the simulated environment, for the other one, for both, and an expired one; `nil` if there
        /// are none.
        var certificateFile: String?
        var otherCertificateFile: String?
        var universalCertificateFile: String?
        var expiredCertificateFile: String?
        var certificatePassphrase: String?
    }
    /// Credentials of the simulated FCM.
    struct FCMCredentials: Sendable, Decodable, Equatable {
        let serviceAccountFile: String
        let projectId: String
    }
    /// Credentials of the simulated legacy FCM.
    struct FCMLegacyCredentials: Sendable, Decodable, Equatable {
        let projectKeyFile: String
    }
    struct Credentials: Sendable, Decodable, Equatable {
        let apns: APNsCredentials
        let fcm: FCMCredentials
        var fcmLegacy: FCMLegacyCredentials?
    }

    let apns: Address
    let fcm: Address
    /// Legacy FCM; `nil` if there is none.
    var fcmLegacy: Address?
    /// Binary APNs and its feedback service; `nil` if there are none.
    var apnsBinary: Address?
    var apnsFeedback: Address?
    let control: Address
    /// The certificate authority's PEM file.
    let ca: String
    let credentials: Credentials
}

extension SimulatorReport {
    /// The address of a route's gateway.
    func address(_ route: TestRoute) throws -> Address {
        switch (route.connector, route.proof) {
        case (.iosBinary, _): try Self.known(apnsBinary, "binary gateway")
        case (_, .projectKey): try Self.known(fcmLegacy, "legacy gateway")
        case (.iosHTTP2, _): apns
        case (.androidV1, _), (.androidV2, _): fcm
        }
    }

    /// Unwraps a value that an older simulator does not report.
    static func known<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else {
            throw CommandFailure(
                .unavailable,
                "The gateway simulator has no \(name), as it is older than this program: build both from one version."
            )
        }
        return value
    }
}
