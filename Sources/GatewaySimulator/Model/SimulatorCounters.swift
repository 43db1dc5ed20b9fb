/// The counters of all gateways at one moment.
public struct SimulatorCounters: Sendable, Codable, Equatable {
    /// The counters of the APNs gateway.
    public var apns: GatewayCounters
    /// The counters of the FCM gateway.
    public var fcm: GatewayCounters
    /// The counters of the legacy FCM gateway.
    public var fcmLegacy: GatewayCounters
    /// The counters of the binary APNs gateway.
    public var apnsBinary: GatewayCounters

    enum CodingKeys: String, CodingKey {
        case apns, fcm
        case fcmLegacy = "fcm-legacy"
        case apnsBinary = "apns-binary"
    }

    /// The counters of one gateway.
    public subscript(gateway: SimulatedGateway) -> GatewayCounters {
        switch gateway {
        case .apns: apns
        case .fcm: fcm
        case .fcmLegacy: fcmLegacy
        case .apnsBinary: apnsBinary
        }
    }
}
