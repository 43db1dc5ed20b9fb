/// The counters of all gateways at one moment.
package struct SimulatorCounters: Sendable, Codable, Equatable {
    /// The counters of the APNs gateway.
    package var apns: GatewayCounters
    /// The counters of the FCM gateway.
    package var fcm: GatewayCounters
    /// The counters of the legacy FCM gateway.
    package var fcmLegacy: GatewayCounters
    /// The counters of the binary APNs gateway.
    package var apnsBinary: GatewayCounters

    enum CodingKeys: String, CodingKey {
        case apns, fcm
        case fcmLegacy = "fcm-legacy"
        case apnsBinary = "apns-binary"
    }

    /// The counters of one gateway.
    package subscript(gateway: SimulatedGateway) -> GatewayCounters {
        switch gateway {
        case .apns: apns
        case .fcm: fcm
        case .fcmLegacy: fcmLegacy
        case .apnsBinary: apnsBinary
        }
    }
}
