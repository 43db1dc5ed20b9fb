import HTTP2
import NIOCore
import NIOPosix
import NIOSSL

/// APNs and FCM on this machine: real HTTP/2, APNs' binary protocol, and HTTP/1.1 for legacy FCM, over TLS; their checks and their
/// answers, and faults on demand.
public final class GatewaySimulator: Sendable {
    /// The port of the APNs gateway.
    public let apnsPort: Int
    /// The port of the FCM gateway.
    public let fcmPort: Int
    /// The port of the legacy FCM gateway.
    public let fcmLegacyPort: Int
    /// The port of the binary APNs gateway.
    public let apnsBinaryPort: Int
    /// The port of the binary APNs gateway's feedback service.
    public let apnsFeedbackPort: Int
    /// The port of the OAuth 2.0 token endpoint.
    public let oauthPort: Int
    /// The port for control.
    public let controlPort: Int
    /// The path of the CA certificate, in PEM, that clients have to trust.
    public let caFile: String
    /// The sample credentials that the gateways accept.
    public let credentials: SimulatorCredentials

    let core: SimulatorCore
    let fleet: DeviceFleet
    private let group: MultiThreadedEventLoopGroup
    private let apns: GatewayListener<APNsRules>
    private let fcm: GatewayListener<FCMRules>
    private let fcmLegacy: FCMLegacyListener
    let apnsBinary: BinaryListener
    private let oauth: HTTP1Listener
    private let control: HTTP1Listener
    private let recordFile: RecordFile?

    /// Starts a simulator; it is ready when this returns.
    /// - Throws: `SimulatorError` when the state folder, a credential, a port or a fault plan is unusable.
    public static func start(_ options: GatewaySimulatorOptions) async throws -> GatewaySimulator {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, options.threads))
        do {
            return try await SimulatorStart(options: options, group: group).run()
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    init(_ parts: SimulatorParts) {
        apnsPort = parts.apns.port
        fcmPort = parts.fcm.port
        fcmLegacyPort = parts.fcmLegacy.port
        apnsBinaryPort = parts.apnsBinary.port
        apnsFeedbackPort = parts.apnsBinary.feedbackPort
        oauthPort = parts.oauth.port
        controlPort = parts.control.port
        caFile = parts.caFile
        credentials = parts.credentials
        core = parts.core
        fleet = parts.fleet
        group = parts.group
        apns = parts.apns
        fcm = parts.fcm
        fcmLegacy = parts.fcmLegacy
        apnsBinary = parts.apnsBinary
        oauth = parts.oauth
        control = parts.control
        recordFile = parts.recordFile
    }

    /// Returns when connections that are open follow the conditions that were set before: each does so on its event loop.
    func conditionsTaken() async {
        for loop in group.makeIterator() { try? await loop.submit {}.get() }
    }

    /// Stops listening, ends every connection and its threads. Files in the state folder stay.
    public func stop() async {
        fleet.stop()
        await control.stop()
        await oauth.stop()
        await apns.stop()
        await fcm.stop()
        await fcmLegacy.stop()
        await apnsBinary.stop()
        try? await group.shutdownGracefully()
        recordFile?.close()
    }
}
