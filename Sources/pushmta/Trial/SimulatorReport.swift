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
    }
    /// Credentials of the simulated FCM.
    struct FCMCredentials: Sendable, Decodable, Equatable {
        let serviceAccountFile: String
        let projectId: String
    }
    /// Credentials of both.
    struct Credentials: Sendable, Decodable, Equatable {
        let apns: APNsCredentials
        let fcm: FCMCredentials
    }

    let apns: Address
    let fcm: Address
    let control: Address
    /// The certificate authority's PEM file.
    let ca: String
    let credentials: Credentials
}
