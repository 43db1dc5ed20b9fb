import Gateways
import LegacyGateways

extension GatewayRegistry {
    /// The gateways that PushMTA knows. To add one, add it here; nothing else in a child changes.
    package static let standard = GatewayRegistry([APNsKind(), FCMv1Kind(), APNsBinaryKind(), FCMLegacyKind()])
}
