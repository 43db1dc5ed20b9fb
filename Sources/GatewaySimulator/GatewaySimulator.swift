// GatewaySimulator: simulates APNs and FCM on this machine, with their checks, their answers, and faults on demand.
//
// WHAT IT DOES
//   Listens as APNs over HTTP/2, APNs' binary gateway with its feedback service, FCM HTTP v1, legacy FCM and Google's
//   token endpoint, all over TLS. Its control port is plain HTTP. It counts and records every push, and reports how
//   often each message was accepted. It can also simulate the devices, which register with a web process and report
//   receipts.
//
// HOW IT IS USED
//   The program gateway-simulator and tests call GatewaySimulator.start(_:) with GatewaySimulatorOptions. It returns
//   when all ports are open; stop() ends the simulator. Faults are a FaultPlan (setFaults); the control port accepts
//   the same as JSON (ControlEndpoint). Device states are DeviceState. A gateway's rules are a GatewayRules.
//   GatewayLoop is a gateway's share of an event loop, and GatewayRecorder keeps its records.
//
// THREADS AND TASKS
//   It has its own event loop group, with one loop by default. A connection stays on its loop. Any thread may change
//   the conditions (SharedConditions); the loops apply the change before their next read. Records are protected by a
//   mutex, taken once per read. Writing the record file blocks the loop.
//
// STATE AND FILES
//   The state folder has the CA, certificates and sample credentials, which are created at the first start and reused,
//   and ports.json. The optional record file gets one JSON line per push, written before the answer is sent. Records,
//   devices and faults are only in memory.
//
// FAILURES
//   A failed start (folder, port, credential, fault plan) throws a SimulatorError. A request that breaks the gateway's
//   rules gets the gateway's own answer. If the record file's disk is full, lines are missing and the simulator
//   continues. The control port has no access control, so it listens on 127.0.0.1 by default. The simulator is for
//   tests, and never connects to the real gateways.
//
// SETTINGS
//   None of PushMTA's settings; see GatewaySimulatorOptions.
//
// SEE ALSO
//   SimulatorStart.swift, ControlEndpoint.swift, Faults/FaultPlan.swift, Server/GatewayLoop.swift, APNs/APNsRules.swift,
//   FCM/FCMRules.swift, APNsBinary/BinaryService.swift, FCMLegacy/FCMLegacyRules.swift, Fleet/DeviceFleet.swift

import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import PushCore

/// Simulates APNs and FCM on this machine: real HTTP/2, APNs' binary protocol, and HTTP/1.1 for legacy FCM, over TLS,
/// with their checks, their answers, and faults on demand.
package final class GatewaySimulator: Sendable {
    /// The port of the APNs gateway.
    package let apnsPort: Int
    /// The port of the FCM gateway.
    package let fcmPort: Int
    /// The port of the legacy FCM gateway.
    package let fcmLegacyPort: Int
    /// The port of the binary APNs gateway.
    package let apnsBinaryPort: Int
    /// The port of the binary APNs gateway's feedback service.
    package let apnsFeedbackPort: Int
    /// The port of the OAuth 2.0 token endpoint.
    package let oauthPort: Int
    package let controlPort: Int
    /// The path of the CA certificate in PEM, which clients must trust.
    package let caFile: String
    /// The sample credentials that the gateways accept.
    package let credentials: SimulatorCredentials

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
    package static func start(_ options: GatewaySimulatorOptions) async throws -> GatewaySimulator {
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

    /// Waits until the open connections have applied the conditions set before; each does so on its event loop.
    func conditionsTaken() async {
        for loop in group.makeIterator() { try? await loop.submit {}.get() }
    }

    /// Stops listening, closes every connection and ends the threads. Files in the state folder stay.
    package func stop() async {
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
    /// The current counters of all gateways.
    package func counters() -> SimulatorCounters { core.counters }

    /// How often all gateways together have accepted a message. The id is a UUID in upper or lower case, the decimal
    /// form of an `_mId`, or the FCM token of a message without `_mId`.
    package func occurrences(ofID id: String) -> Int {
        records(ofID: id).reduce(0) { $0 + $1.accepted }
    }

    /// How often all gateways together have accepted a message.
    package func occurrences(of id: MessageUUID) -> Int {
        let key = MessageKey(high: id.high, low: id.low)
        return SimulatedGateway.allCases.reduce(0) { $0 + (core.recorder($1).record(of: key)?.accepted ?? 0) }
    }

    /// Each gateway's record of a message.
    package func records(ofID id: String) -> [MessageRecord] {
        SimulatedGateway.allCases.compactMap { core.recorder($0).record(of: MessageKey(id: id)) }
    }

    /// The first record of a message; nil if it never arrived.
    package func record(ofID id: String) -> MessageRecord? { records(ofID: id).first }

    /// The messages that a gateway has accepted more than once.
    package func duplicates(_ gateway: SimulatedGateway, limit: Int = 1000) -> [MessageRecord] {
        core.recorder(gateway).records(limit: limit) { $0.accepted > 1 }
    }

    /// Replaces the faults of one gateway, or of all if it is nil. They apply to later requests.
    ///
    /// - Throws: `SimulatorError` if the plan is invalid, for example with a reason that the gateway does not know.
    package func setFaults(_ plan: FaultPlan, for gateway: SimulatedGateway? = nil) throws(SimulatorError) {
        try core.setFaults(plan, for: gateway)
    }

    /// Sets a device's state at all gateways; nil makes it valid again.
    package func setDevice(_ token: String, to state: DeviceState?) {
        core.setDevices([token], to: state)
    }

    /// Sets the state of many devices at all gateways; nil makes them valid again.
    package func setDevices(_ tokens: [String], to state: DeviceState?) {
        core.setDevices(tokens, to: state)
    }

    /// Sets the token endpoint's answer (nil: it issues tokens again), and whether its port is closed.
    package func setTokenAnswer(_ answer: ScriptedAnswer?, isClosed: Bool = false) {
        core.setTokenEndpoint(answer, isClosed: isClosed)
    }

    /// Adds tokens to a topic's list at the feedback service, as the gateway does when a push reaches a device without
    /// the app. Returns false, and does nothing, if one of them is not a token.
    @discardableResult
    package func addFeedback(_ tokens: [String], sinceMilliseconds: Int64, topic: String) -> Bool {
        apnsBinary.service.feedback.add(tokens, sinceMilliseconds: sinceMilliseconds, topic: topic)
    }

    /// The number of tokens in the feedback service's lists.
    package var feedbackCount: Int { apnsBinary.service.feedback.count }

    /// Revokes a gateway's sample credential, or accepts it again.
    package func revokeKey(_ isRevoked: Bool, for gateway: SimulatedGateway) {
        core.conditions(gateway).change { $0.isRevoked = isRevoked }
    }

    /// Sets whether every APNs device without its own state is registered for the other environment, which simulates a
    /// mix-up of sandbox and production.
    package func setDevicesOfOtherEnvironment(_ areElsewhere: Bool) {
        core.setDevicesOfOtherEnvironment(areElsewhere)
    }

    /// Resets (TCP RST) every open connection of one gateway, or of all if it is nil.
    package func dropConnections(_ gateway: SimulatedGateway? = nil) {
        core.dropConnections(gateway)
    }

    /// Clears records and counters; faults and devices stay.
    package func resetRecords() {
        core.reset()
    }
}

/// The parts of a running simulator.
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
