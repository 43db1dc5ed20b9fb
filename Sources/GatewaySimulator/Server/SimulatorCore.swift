/// What the servers of a simulator share: records and conditions of both gateways.
final class SimulatorCore: Sendable {
    private let apnsRecorder: GatewayRecorder
    private let fcmRecorder: GatewayRecorder
    private let apnsConditions: SharedConditions
    private let fcmConditions: SharedConditions

    init(options: GatewaySimulatorOptions, recordFile: RecordFile?) throws(SimulatorError) {
        apnsRecorder = GatewayRecorder(gateway: .apns, file: recordFile)
        fcmRecorder = GatewayRecorder(gateway: .fcm, file: recordFile)
        apnsConditions = SharedConditions(GatewayConditions())
        fcmConditions = SharedConditions(GatewayConditions())
        for (gateway, plan) in options.faults { try setFaults(plan, for: gateway) }
        for (token, state) in options.devices { setDevices([token], to: state) }
        apnsConditions.change { $0.areDevicesElsewhere = options.devicesAreOfOtherEnvironment }
    }

    func recorder(_ gateway: SimulatedGateway) -> GatewayRecorder {
        switch gateway {
        case .apns: apnsRecorder
        case .fcm: fcmRecorder
        }
    }

    func conditions(_ gateway: SimulatedGateway) -> SharedConditions {
        switch gateway {
        case .apns: apnsConditions
        case .fcm: fcmConditions
        }
    }

    var counters: SimulatorCounters {
        SimulatorCounters(apns: apnsRecorder.counters, fcm: fcmRecorder.counters)
    }

    /// Replaces the fault plan of one gateway, or of both.
    func setFaults(_ plan: FaultPlan, for gateway: SimulatedGateway?) throws(SimulatorError) {
        let gateways = gateway.map { [$0] } ?? SimulatedGateway.allCases
        for gateway in gateways {
            if let problem = plan.problem(for: gateway) { throw SimulatorError(.badRequest, problem) }
        }
        for gateway in gateways { conditions(gateway).change { $0.plan = plan } }
    }

    /// Tells both gateways about devices; nil makes them valid again.
    func setDevices(_ tokens: [String], to state: DeviceState?) {
        let apnsKeys = tokens.compactMap { APNsDeviceToken.key(of: $0) }
        let fcmKeys = tokens.map { token in
            let bytes = Array(token.utf8)
            return MessageKey(hashOf: bytes, bytes.indices)
        }
        apnsConditions.change { for key in apnsKeys { $0.devices[key] = state } }
        fcmConditions.change { for key in fcmKeys { $0.devices[key] = state } }
    }

    /// Says whether APNs devices that nothing else is known of belong to the other environment.
    func setDevicesOfOtherEnvironment(_ areElsewhere: Bool) {
        apnsConditions.change { $0.areDevicesElsewhere = areElsewhere }
    }

    /// Drops every connection of one gateway, or of both.
    func dropConnections(_ gateway: SimulatedGateway?) {
        for gateway in gateway.map({ [$0] }) ?? SimulatedGateway.allCases {
            conditions(gateway).change { $0.drops += 1 }
        }
    }

    /// Forgets records and counters.
    func reset() {
        apnsRecorder.reset()
        fcmRecorder.reset()
    }
}
