import PushCore

/// APNs over HTTP/2, with a key or a certificate.
package struct APNsKind: GatewayKind {
    package let connectors: [Connector] = [.iosHTTP2]
    package let credentials: [CredentialKind] = [.apnsKey, .apnsCertificate]
    package let format = PayloadFormat.apns
    package let answers = GatewayAnswers.apnsHTTP2

    package init() {}

    package func make(_ order: GatewayOrder) throws(GatewayCredentialError) -> any Gateway {
        GatewayEngine(
            apns: order.options,
            topic: try order.topic(),
            authentication: try authentication(order),
            now: order.now,
            eventLoop: order.eventLoop,
            delegate: order.delegate
        )
    }

    private func authentication(_ order: GatewayOrder) throws(GatewayCredentialError) -> APNsAuthentication {
        switch order.credential {
        case .apnsTokenKey(let keyID, let teamID, let pem):
            return .providerTokens(order.sources.source(of: try APNsTokenKey(keyID: keyID, teamID: teamID, pem: pem)))
        case .apnsCertificate(let pkcs12, let passphrase):
            return .certificate(try ClientCertificate(validAt: order.now(), file: pkcs12, passphrase: passphrase))
        case .serviceAccount, .projectKey:
            throw order.mismatch
        }
    }

    package func fields(_ message: ShownMessage) -> [ShownField] {
        var id: [UInt8] = []
        message.messageID.appendText(to: &id)
        var fields = [
            ShownField(":method", "POST"), ShownField(":authority", message.address),
            ShownField(":path", "/3/device/\(message.token)"),
        ]
        fields += message.attributes.apnsFields(topic: message.bundleID, now: message.now)
            .map { ShownField($0.name, $0.value) }
        fields.append(ShownField("apns-id", String(decoding: id, as: UTF8.self)))
        if let collapseID = message.collapseID { fields.append(ShownField("apns-collapse-id", collapseID)) }
        return fields
    }

    package func trial(token: String?, alert: String?) -> TrialMessage { .apns(token: token, alert: alert) }

    package func acceptance(hasDevice: Bool) -> String {
        hasDevice ? "APNs accepted the push; it is on its way to the device" : "the gateway accepts pushes"
    }
}
