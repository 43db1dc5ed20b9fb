import Gateways
import PushCore

/// APNs' binary protocol, with a certificate.
package struct APNsBinaryKind: GatewayKind {
    package let connectors: [Connector] = [.iosBinary]
    package let credentials: [CredentialKind] = [.apnsCertificate]
    package let format = PayloadFormat.apnsBinary
    package let answers = GatewayAnswers.apnsBinary
    /// The gateway says nothing about a good message and closes the connection after a bad one.
    package let answersWithoutDevice = false
    package let handshake = GatewayHandshake(offersHTTP2: false, endsWithoutCertificate: true)
    package let remark: String? =
        "ios-binary: Apple closed its binary gateway and the feedback service on 31 March 2021, so this account works only with a compatible gateway; for Apple use ios-http2, which accepts the same certificate"

    package init() {}

    package func make(_ order: GatewayOrder) throws(GatewayCredentialError) -> any Gateway {
        guard case .apnsCertificate(let pkcs12, let passphrase) = order.credential else { throw order.mismatch }
        let certificate = try ClientCertificate(validAt: order.now(), file: pkcs12, passphrase: passphrase)
        // The gateway takes the topic from the certificate. With another app's certificate, every token would be
        // invalid.
        try certificate.requireTopic(order.topic())
        return APNsBinaryGateway(
            options: order.options,
            certificate: certificate,
            now: order.now,
            eventLoop: order.eventLoop,
            delegate: order.delegate
        )
    }

    package func fields(_ message: ShownMessage) -> [ShownField] {
        var fields = [ShownField("gateway", message.address), ShownField("device token", message.token)]
        let apns = message.attributes.apnsFields(topic: message.bundleID, now: message.now)
        for (name, header) in [("expiration", "apns-expiration"), ("priority", "apns-priority")] {
            guard let field = apns.first(where: { $0.name == header }) else { continue }
            fields.append(ShownField(name, field.value))
        }
        return fields
    }

    package func trial(token: String?, alert: String?) -> TrialMessage { .apns(token: token, alert: alert) }

    package func acceptance(hasDevice: Bool) -> String {
        "the gateway did not object to the push, which is how it accepts"
    }
}
