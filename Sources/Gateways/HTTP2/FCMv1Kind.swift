import PushCore

/// FCM over its HTTP v1 API, with a service account.
package struct FCMv1Kind: GatewayKind {
    package let connectors: [Connector] = [.androidV1, .androidV2]
    package let credentials: [CredentialKind] = [.fcmServiceAccount]
    package let format = PayloadFormat.fcmV1
    package let answers = GatewayAnswers.fcmV1

    package init() {}

    package func make(_ order: GatewayOrder) throws(GatewayCredentialError) -> any Gateway {
        guard case .serviceAccount(let json) = order.credential else { throw order.mismatch }
        let account = try GoogleAccount(json: json)
        // Only the operator names certificate authorities; an account of Google's own gateway has none.
        try account.requireAllowed(
            by: order.options.tokenSources,
            gateways: order.options.trustRootsFile == nil ? [] : [order.options.address.host]
        )
        return GatewayEngine(
            fcmV1: order.options,
            account: account,
            curl: order.curl,
            now: order.now,
            eventLoop: order.eventLoop,
            delegate: order.delegate
        )
    }

    package func fields(_ message: ShownMessage) -> [ShownField] {
        [
            ShownField(":method", "POST"), ShownField(":authority", message.address),
            ShownField(":path", "/v1/projects/\(message.projectID ?? "PROJECT")/messages:send"),
            ShownField("content-type", "application/json"),
        ]
    }

    package func trial(token: String?, alert: String?) -> TrialMessage {
        .fcm(token: token) { #"{"validate_only":true,"message":{"token":"\#($0)","data":{"pushmta":"test"}}}"# }
    }

    package func acceptance(hasDevice: Bool) -> String {
        "FCM checked the message and would accept it; nothing was delivered"
    }
}
