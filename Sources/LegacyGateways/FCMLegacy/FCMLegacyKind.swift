import Gateways
import PushCore

/// FCM's legacy HTTP protocol, with a project's server key.
package struct FCMLegacyKind: GatewayKind {
    package let connectors: [Connector] = [.androidV1, .androidV2]
    package let credentials: [CredentialKind] = [.fcmProjectKey]
    package let format = PayloadFormat.fcmLegacy
    package let answers = GatewayAnswers.fcmLegacy

    package init() {}

    package func make(_ order: GatewayOrder) throws(GatewayCredentialError) -> any Gateway {
        guard case .projectKey(let key) = order.credential else { throw order.mismatch }
        return FCMLegacyGateway(
            options: order.options,
            projectKey: try FCMProjectKey(key),
            now: order.now,
            eventLoop: order.eventLoop,
            delegate: order.delegate
        )
    }

    package func fields(_ message: ShownMessage) -> [ShownField] {
        [
            ShownField(":method", "POST"), ShownField(":authority", message.address), ShownField(":path", "/fcm/send"),
            ShownField("content-type", "application/json"),
        ]
    }

    package func trial(token: String?, alert: String?) -> TrialMessage {
        .fcm(token: token) { _ in #"{"dry_run":true,"data":{"pushmta":"test"}}"# }
    }

    package func acceptance(hasDevice: Bool) -> String {
        "FCM checked the message and would accept it; nothing was delivered"
    }
}
