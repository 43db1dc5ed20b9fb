import Gateways
import PushCore

/// The kind of ``LineGateway``: its one line in a registry.
///
/// The database has only four connectors, so this kind borrows one, and its payload format leaves out the token. A
/// product gateway would have its own row in `ConnectorFacts`.
struct LineKind: GatewayKind {
    let connectors: [Connector] = [.androidV1]
    let credentials: [CredentialKind] = [.fcmProjectKey]
    let format = PayloadFormat.fcmLegacy
    var answers: GatewayAnswers { LineAnswers.all }

    func make(_ order: GatewayOrder) throws(GatewayCredentialError) -> any Gateway {
        guard case .projectKey(let key) = order.credential else { throw order.mismatch }
        return LineGateway(order.options.address, key: key, eventLoop: order.eventLoop, delegate: order.delegate)
    }

    func fields(_ message: ShownMessage) -> [ShownField] {
        [ShownField("line", message.address), ShownField("to", message.token)]
    }

    func trial(token: String?, alert: String?) -> TrialMessage {
        TrialMessage(token: token ?? "nobody", body: "{}", attributes: MessageAttributes())
    }

    func acceptance(hasDevice: Bool) -> String { "the line took it" }
}
