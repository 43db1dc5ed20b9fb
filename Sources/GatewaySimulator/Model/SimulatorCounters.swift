/// The counters of both gateways at one moment.
public struct SimulatorCounters: Sendable, Codable, Equatable {
    /// The counters of the APNs gateway.
    public var apns: GatewayCounters
    /// The counters of the FCM gateway.
    public var fcm: GatewayCounters

    /// The counters of one gateway.
    public subscript(gateway: SimulatedGateway) -> GatewayCounters {
        switch gateway {
        case .apns: apns
        case .fcm: fcm
        }
    }
}
