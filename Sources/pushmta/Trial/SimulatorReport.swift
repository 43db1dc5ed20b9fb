/// What the simulator prints when it is ready: where it listens and what it accepts.
struct SimulatorReport: Sendable, Decodable, Equatable {
    /// An address.
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
        /// A certificate for the environment that is played, one for the other, one for both and one whose time is over; `nil`
        /// where there are none.
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
    /// Credentials of all.
    struct Credentials: Sendable, Decodable, Equatable {
        let apns: APNsCredentials
        let fcm: FCMCredentials
        var fcmLegacy: FCMLegacyCredentials?
    }

    let apns: Address
    let fcm: Address
    /// Legacy FCM; `nil` where there is none.
    var fcmLegacy: Address?
    /// Binary APNs and its feedback service; `nil` where there are none.
    var apnsBinary: Address?
    var apnsFeedback: Address?
    let control: Address
    /// The certificate authority's PEM file.
    let ca: String
    let credentials: Credentials
}
