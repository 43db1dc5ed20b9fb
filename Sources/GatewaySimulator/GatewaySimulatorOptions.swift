/// The options of a simulator. Only the state folder is required.
package struct GatewaySimulatorOptions: Sendable {
    /// The folder of the CA, certificates and sample credentials. Missing ones are created, existing ones reused.
    package var stateFolder: String
    /// The address to listen on: a numeric address or a name that resolves to one.
    package var host = "127.0.0.1"
    /// Additional names or numeric addresses for the server certificate, besides localhost, 127.0.0.1, ::1 and `host`.
    package var certificateNames: [String] = []
    /// The port of the APNs gateway. As for the other ports, 0 chooses a free one.
    package var apnsPort = 0
    /// The port of the FCM gateway.
    package var fcmPort = 0
    /// The port of the legacy FCM gateway.
    package var fcmLegacyPort = 0
    /// The port of the binary APNs gateway.
    package var apnsBinaryPort = 0
    /// The port of the binary APNs gateway's feedback service.
    package var apnsFeedbackPort = 0
    /// The port of the OAuth 2.0 token endpoint.
    package var oauthPort = 0
    /// The control port, without TLS.
    package var controlPort = 0
    /// The numeric address of the control port. The port has no access control.
    package var controlHost = "127.0.0.1"
    /// The number of event loops. Use one if the sender runs on the same machine.
    package var threads = 1
    /// The topics that the sample APNs key may send to, including suffixes such as `.voip`. Empty allows any topic.
    package var apnsTopics = ["com.example.app"]
    /// Whether APNs accepts a provider token whose `iat` is a string, as APNSwift writes it. Whether Apple does is
    /// unknown.
    package var takesStringIssuedAt = false
    /// Whether to simulate APNs' development environment, which adds `apns-unique-id` to its answers.
    package var isSandbox = false
    /// The Firebase project.
    package var projectID = "pushmta-simulator"
    /// The lifetime of the token endpoint's access tokens, in seconds; Google's last 3,600.
    package var accessTokenLifetimeSeconds = 3600
    /// The record file. Each push adds a JSON line `{"id","gateway","status","reason","time","answered"}` before its
    /// answer is sent. An answer that is sent later adds a line `{"id","answered","time"}`. Times are seconds since
    /// 1970.
    package var recordFile: String?
    /// The file for the ports, written when the simulator is ready; nil for `ports.json` in the state folder.
    package var portFile: String?
    /// Each gateway's initial faults.
    package var faults: [SimulatedGateway: FaultPlan] = [:]
    /// The initial device states, by token.
    package var devices: [String: DeviceState] = [:]

    /// Whether every APNs device not in `devices` initially belongs to the other environment.
    package var devicesAreOfOtherEnvironment = false

    /// Default options with this state folder.
    package init(stateFolder: String) {
        self.stateFolder = stateFolder
    }
}
