/// The conditions that can be changed while a gateway runs.
struct GatewayConditions: Sendable {
    var plan = FaultPlan()
    /// Device states by the key of the token.
    var devices: [MessageKey: DeviceState] = [:]
    /// The scripted answer of the token endpoint; FCM only.
    var tokenAnswer: ScriptedAnswer?
    /// Whether the token endpoint's port is closed; FCM only.
    var isTokenEndpointClosed = false
    /// The delay of the token endpoint's answers, in milliseconds.
    var tokenDelayMilliseconds = 0
    /// Whether the sample credential is revoked.
    var isRevoked = false
    /// Whether devices without their own state are registered for the other environment.
    var areDevicesElsewhere = false
    /// Whether every push is rejected.
    var isOutage: Bool { isRevoked || areDevicesElsewhere }
    /// Whether the gateway or its token endpoint is down, so that arrivals are counted per second.
    var isMetered: Bool { plan.outage != nil || tokenAnswer != nil || isTokenEndpointClosed }
    /// The number of calls that dropped every connection.
    var drops = 0
}
