/// How a simulator is set up; only the state folder has to be given.
public struct GatewaySimulatorOptions: Sendable {
    /// The folder of CA, certificates and sample credentials. Made when missing; what stands there is used again.
    public var stateFolder: String
    /// The address to listen on: a numeric address or a name that resolves to one.
    public var host = "127.0.0.1"
    /// Further names or numeric addresses that the server certificate covers, besides localhost, 127.0.0.1, ::1 and `host`.
    public var certificateNames: [String] = []
    /// The port of the APNs gateway; 0 takes a free one, as for the others.
    public var apnsPort = 0
    /// The port of the FCM gateway.
    public var fcmPort = 0
    /// The port of the legacy FCM gateway.
    public var fcmLegacyPort = 0
    /// The port of the binary APNs gateway.
    public var apnsBinaryPort = 0
    /// The port of the binary APNs gateway's feedback service.
    public var apnsFeedbackPort = 0
    /// The port of the OAuth 2.0 token endpoint.
    public var oauthPort = 0
    /// The port for control, without TLS.
    public var controlPort = 0
    /// The numeric address of the port for control, on which anybody who reaches it can do anything.
    public var controlHost = "127.0.0.1"
    /// Event loops. One is right when the machine is shared with the sender.
    public var threads = 1
    /// The topics that the sample APNs key may send to, suffixes such as `.voip` included; empty means any topic.
    public var apnsTopics = ["com.example.app"]
    /// APNs takes a provider token whose `iat` is a text, as APNSwift writes it. Whether Apple does is not known.
    public var takesStringIssuedAt = false
    /// Plays APNs' development environment, which adds `apns-unique-id` to its answers.
    public var isSandbox = false
    /// The Firebase project.
    public var projectID = "pushmta-simulator"
    /// How long an access token of the token endpoint lasts, in seconds; Google's last 3,600.
    public var accessTokenLifetimeSeconds = 3600
    /// A file that gets a JSON line `{"id","gateway","status","reason","time","answered"}` for each push, before its answer leaves;
    /// an answer that leaves later adds a line `{"id","answered","time"}`. Time is seconds since 1970.
    public var recordFile: String?
    /// Where the ports are written when the simulator is ready; `ports.json` in the state folder when nil.
    public var portFile: String?
    /// The faults of each gateway at the start.
    public var faults: [SimulatedGateway: FaultPlan] = [:]
    /// What is known about devices at the start, by token.
    public var devices: [String: DeviceState] = [:]

    /// Every APNs device that `devices` does not name belongs to the other environment at the start.
    public var devicesAreOfOtherEnvironment = false

    /// Options with defaults and that state folder.
    public init(stateFolder: String) {
        self.stateFolder = stateFolder
    }
}

/// A push gateway that the simulator plays.
public enum SimulatedGateway: String, Sendable, Codable, CaseIterable {
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
    /// The reasons with which the gateway rejects pushes; error rates and counters use these names.
    public var rejectionReasons: [String] { AnswerCatalog.of(self).rejections }
}

/// Why the simulator cannot do what it was asked for.
public struct SimulatorError: Error, CustomStringConvertible, Sendable {
    public enum Code: Sendable {
        /// The state folder or a file in it cannot be read or written.
        case stateFolder
        /// A port cannot be listened on.
        case listen
        /// A credential in the state folder is damaged.
        case credential
        /// A fault plan or a device state makes no sense.
        case badRequest
    }

    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
