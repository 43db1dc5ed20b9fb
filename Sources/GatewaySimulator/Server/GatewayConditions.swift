/// What may be changed from outside while a gateway runs.
struct GatewayConditions: Sendable {
    var plan = FaultPlan()
    /// By the key of the token.
    var devices: [MessageKey: DeviceState] = [:]
    /// The sample credential has been revoked.
    var isRevoked = false
}
