// GatewaySimulator: plays APNs and FCM on this machine, with their checks, their answers, and faults on demand.
//
// WHAT IT DOES
//   Listens as APNs over HTTP/2, APNs' binary gateway with its feedback service, FCM HTTP v1, legacy FCM and Google's token
//   endpoint, all over TLS, and on a control port in plain HTTP. Counts and records what came, and says how often each
//   message was accepted. Can play the devices, too: they register with a web process and report what they get.
//
// HOW IT IS USED
//   The program gateway-simulator and tests: GatewaySimulator.start(_:) with GatewaySimulatorOptions returns when all ports
//   are open; stop() ends it. Faults are a FaultPlan (setFaults), the control port takes the same in JSON (ControlEndpoint),
//   states of devices are DeviceState. A gateway's rules are a GatewayRules; GatewayLoop has its share of an event loop,
//   GatewayRecorder its records.
//
// THREADS AND TASKS
//   An event loop group of its own, with one loop unless the options say otherwise. A connection stays on its loop. Whoever
//   changes conditions does so from any thread (SharedConditions), and loops take them over before their next read. Records
//   are behind a mutex, taken once a read. Writing the record file blocks the loop.
//
// STATE AND FILES
//   The state folder: CA, certificates and sample credentials, made at the first start and used again, and ports.json. The
//   record file, if one is asked for: a line of JSON for each push, written before its answer leaves. Records, devices and
//   faults are in memory and end with the process.
//
// FAILURES
//   A start that cannot be made (folder, port, credential, fault plan) is a SimulatorError. A request that breaks the
//   gateway's rules gets the gateway's own answer. A record file on a full disk becomes short, and the simulator goes on. The
//   control port obeys everybody who reaches it, so it listens on 127.0.0.1 unless told otherwise. It is for tests, and never
//   speaks to the real gateways.
//
// SETTINGS
//   None of the product's: GatewaySimulatorOptions.
//
// SEE ALSO
//   SimulatorStart.swift, ControlEndpoint.swift, Faults/FaultPlan.swift, Server/GatewayLoop.swift, APNs/APNsRules.swift,
//   FCM/FCMRules.swift, APNsBinary/BinaryService.swift, FCMLegacy/FCMLegacyRules.swift, Fleet/DeviceFleet.swift

import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import PushCore

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

extension GatewaySimulator {
    /// The counters of all gateways now.
    public func counters() -> SimulatorCounters { core.counters }

    /// How often a message was accepted, by all gateways together. The id is a UUID in either case, the decimal of a `_mId`, or
    /// the FCM token of a message that had no `_mId`.
    public func occurrences(ofID id: String) -> Int {
        records(ofID: id).reduce(0) { $0 + $1.accepted }
    }

    /// How often a message was accepted, by all gateways together.
    public func occurrences(of id: MessageUUID) -> Int {
        let key = MessageKey(high: id.high, low: id.low)
        return SimulatedGateway.allCases.reduce(0) { $0 + (core.recorder($1).record(of: key)?.accepted ?? 0) }
    }

    /// What each gateway knows of a message.
    public func records(ofID id: String) -> [MessageRecord] {
        SimulatedGateway.allCases.compactMap { core.recorder($0).record(of: MessageKey(id: id)) }
    }

    /// What is known of a message; nil when it never came.
    public func record(ofID id: String) -> MessageRecord? { records(ofID: id).first }

    /// The ids that a gateway has accepted at least once, in the order in which they came first.
    public func acceptedIDs(_ gateway: SimulatedGateway) -> [String] {
        core.recorder(gateway).records(limit: .max) { $0.accepted > 0 }.map(\.id)
    }

    /// The messages that a gateway has accepted more than once.
    public func duplicates(_ gateway: SimulatedGateway, limit: Int = 1000) -> [MessageRecord] {
        core.recorder(gateway).records(limit: limit) { $0.accepted > 1 }
    }

    /// Replaces the faults of one gateway, or of all when it is nil; requests that come later meet the new ones.
    /// - Throws: `SimulatorError` when the plan makes no sense, such as a reason that the gateway does not know.
    public func setFaults(_ plan: FaultPlan, for gateway: SimulatedGateway? = nil) throws(SimulatorError) {
        try core.setFaults(plan, for: gateway)
    }

    /// Says what all gateways know of a device; nil makes it valid again.
    public func setDevice(_ token: String, to state: DeviceState?) {
        core.setDevices([token], to: state)
    }

    /// Says what all gateways know of many devices.
    public func setDevices(_ tokens: [String], to state: DeviceState?) {
        core.setDevices(tokens, to: state)
    }

    /// Says what the endpoint of access tokens answers, nil for tokens again, and whether its port is closed.
    public func setTokenAnswer(_ answer: ScriptedAnswer?, isClosed: Bool = false) {
        core.setTokenEndpoint(answer, isClosed: isClosed)
    }

    /// Puts tokens into the list of the feedback service of a topic, as the gateway does when a push meets a device without the
    /// app; returns false, and does nothing, if one of them is no token.
    @discardableResult
    public func addFeedback(_ tokens: [String], sinceMilliseconds: Int64, topic: String) -> Bool {
        apnsBinary.service.feedback.add(tokens, sinceMilliseconds: sinceMilliseconds, topic: topic)
    }

    /// How many tokens the feedback service has to tell.
    public var feedbackCount: Int { apnsBinary.service.feedback.count }

    /// Revokes the sample credential of a gateway, or takes that back.
    public func revokeKey(_ isRevoked: Bool, for gateway: SimulatedGateway) {
        core.conditions(gateway).change { $0.isRevoked = isRevoked }
    }

    /// Says that every APNs device that no other call named is registered for the other environment, or that it is not: a
    /// mix-up of sandbox and production, and its end.
    public func setDevicesOfOtherEnvironment(_ areElsewhere: Bool) {
        core.setDevicesOfOtherEnvironment(areElsewhere)
    }

    /// Ends every open connection of one gateway, or of all when it is nil, with a TCP reset.
    public func dropConnections(_ gateway: SimulatedGateway? = nil) {
        core.dropConnections(gateway)
    }

    /// Forgets records and counters; faults and devices stay.
    public func resetRecords() {
        core.reset()
    }
}

/// Everything that a running simulator is made of.
struct SimulatorParts {
    var core: SimulatorCore
    var fleet: DeviceFleet
    var group: MultiThreadedEventLoopGroup
    var apns: GatewayListener<APNsRules>
    var fcm: GatewayListener<FCMRules>
    var fcmLegacy: FCMLegacyListener
    var apnsBinary: BinaryListener
    var oauth: HTTP1Listener
    var control: HTTP1Listener
    var recordFile: RecordFile?
    var caFile: String
    var credentials: SimulatorCredentials
}
