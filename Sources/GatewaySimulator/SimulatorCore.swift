/// The state that a simulator's servers share: the records and conditions of all gateways.
final class SimulatorCore: Sendable {
    private let apnsRecorder: GatewayRecorder
    private let fcmRecorder: GatewayRecorder
    private let fcmLegacyRecorder: GatewayRecorder
    private let apnsBinaryRecorder: GatewayRecorder
    private let apnsConditions: SharedConditions
    private let fcmConditions: SharedConditions
    private let fcmLegacyConditions: SharedConditions
    private let apnsBinaryConditions: SharedConditions

    init(options: GatewaySimulatorOptions, recordFile: RecordFile?) throws(SimulatorError) {
        apnsRecorder = GatewayRecorder(gateway: .apns, file: recordFile)
        fcmRecorder = GatewayRecorder(gateway: .fcm, file: recordFile)
        fcmLegacyRecorder = GatewayRecorder(gateway: .fcmLegacy, file: recordFile)
        apnsBinaryRecorder = GatewayRecorder(gateway: .apnsBinary, file: recordFile)
        apnsConditions = SharedConditions(GatewayConditions())
        fcmConditions = SharedConditions(GatewayConditions())
        fcmLegacyConditions = SharedConditions(GatewayConditions())
        apnsBinaryConditions = SharedConditions(GatewayConditions())
        for (gateway, plan) in options.faults { try setFaults(plan, for: gateway) }
        for (token, state) in options.devices { setDevices([token], to: state) }
        setDevicesOfOtherEnvironment(options.devicesAreOfOtherEnvironment)
    }

    func recorder(_ gateway: SimulatedGateway) -> GatewayRecorder {
        switch gateway {
        case .apns: apnsRecorder
        case .fcm: fcmRecorder
        case .fcmLegacy: fcmLegacyRecorder
        case .apnsBinary: apnsBinaryRecorder
        }
    }

    func conditions(_ gateway: SimulatedGateway) -> SharedConditions {
        switch gateway {
        case .apns: apnsConditions
        case .fcm: fcmConditions
        case .fcmLegacy: fcmLegacyConditions
        case .apnsBinary: apnsBinaryConditions
        }
    }

    var counters: SimulatorCounters {
        SimulatorCounters(
            apns: apnsRecorder.counters,
            fcm: fcmRecorder.counters,
            fcmLegacy: fcmLegacyRecorder.counters,
            apnsBinary: apnsBinaryRecorder.counters
        )
    }

    /// Replaces the fault plan of one gateway, or of all.
    func setFaults(_ plan: FaultPlan, for gateway: SimulatedGateway?) throws(SimulatorError) {
        let gateways = gateway.map { [$0] } ?? SimulatedGateway.allCases
        for gateway in gateways {
            if let problem = plan.problem(for: gateway) { throw SimulatorError(.badRequest, problem) }
        }
        for gateway in gateways { change(gateway) { $0.plan = plan } }
    }

    /// Sets the token endpoint's answer (nil: it issues tokens), whether its port is closed, and its delay.
    func setTokenEndpoint(_ answer: ScriptedAnswer?, isClosed: Bool, delayMilliseconds: Int = 0) {
        change(.fcm) { conditions in
            conditions.tokenAnswer = answer
            conditions.tokenDelayMilliseconds = delayMilliseconds
            conditions.isTokenEndpointClosed = isClosed
        }
    }

    /// Changes conditions in a way that may start or end an outage.
    private func change(_ gateway: SimulatedGateway, _ body: (inout GatewayConditions) -> Void) {
        conditions(gateway).change { conditions in
            body(&conditions)
            recorder(gateway).meterOutage(conditions.isMetered)
        }
    }

    /// Sets the state of devices at all gateways; nil makes them valid again.
    func setDevices(_ tokens: [String], to state: DeviceState?) {
        let apnsKeys = tokens.compactMap { APNsDeviceToken.key(of: $0) }
        let fcmKeys = tokens.map { token in
            let bytes = Array(token.utf8)
            return MessageKey(hashOf: bytes, bytes.indices)
        }
        for conditions in [apnsConditions, apnsBinaryConditions] {
            conditions.change { for key in apnsKeys { $0.devices[key] = state } }
        }
        for conditions in [fcmConditions, fcmLegacyConditions] {
            conditions.change { for key in fcmKeys { $0.devices[key] = state } }
        }
    }

    /// Sets whether APNs devices without their own state belong to the other environment.
    func setDevicesOfOtherEnvironment(_ areElsewhere: Bool) {
        for conditions in [apnsConditions, apnsBinaryConditions] {
            conditions.change { $0.areDevicesElsewhere = areElsewhere }
        }
    }

    /// Drops every connection of one gateway, or of all.
    func dropConnections(_ gateway: SimulatedGateway?) {
        for gateway in gateway.map({ [$0] }) ?? SimulatedGateway.allCases {
            conditions(gateway).change { $0.drops += 1 }
        }
    }

    /// Clears records and counters.
    func reset() {
        for gateway in SimulatedGateway.allCases { recorder(gateway).reset() }
    }
}
