/// What may be changed from outside while a gateway runs.
struct GatewayConditions: Sendable {
    var plan = FaultPlan()
    /// By the key of the token.
    var devices: [MessageKey: DeviceState] = [:]
    /// What the endpoint of access tokens is told to answer; FCM only.
    var tokenAnswer: ScriptedAnswer?
    /// The endpoint of access tokens cannot be reached: its port is closed; FCM only.
    var isTokenEndpointClosed = false
    /// The sample credential has been revoked.
    var isRevoked = false
    /// Devices that nothing else is known of are registered for the other environment.
    var areDevicesElsewhere = false
    /// Every push is rejected, whatever it is.
    var isOutage: Bool { isRevoked || areDevicesElsewhere }
    /// The gateway, or what it cannot do without, is out, and somebody wants to know what comes meanwhile.
    var isMetered: Bool { plan.outage != nil || tokenAnswer != nil || isTokenEndpointClosed }
    /// Counts the calls that drop every connection.
    var drops = 0
}
