import PushCore

/// A kind of gateway: which accounts it serves, how to make one, and the texts about it.
///
/// Children, `app test`, `delivery preview` and `doctor` get everything about a connector from here and need not
/// distinguish gateways. A new one needs a folder with its `Gateway` and its kind, its rows of the ``AnswerTable``, and
/// a line in the registry.
package protocol GatewayKind: Sendable {
    /// The connectors of the external accounts that it serves.
    var connectors: [Connector] { get }

    /// What an application can authenticate with.
    var credentials: [CredentialKind] { get }

    /// The payload format that it accepts.
    var format: PayloadFormat { get }

    /// The meaning of its gateway's answers.
    var answers: GatewayAnswers { get }

    /// Makes a gateway, not yet started.
    ///
    /// - Throws: `GatewayCredentialError` if the credential cannot be used.
    func make(_ order: GatewayOrder) throws(GatewayCredentialError) -> any Gateway

    /// The parts of a request other than its payload, without secrets: header fields, or the protocol's equivalent.
    func fields(_ message: ShownMessage) -> [ShownField]

    /// The message for a trial send.
    ///
    /// - Parameters:
    ///   - token: a device's push token; nil for a token that no device has.
    ///   - alert: a text to show; nil for an invisible push.
    func trial(token: String?, alert: String?) -> TrialMessage

    /// Whether a message to a token of no device proves anything: its refusal shows that everything else is correct.
    var answersWithoutDevice: Bool { get }

    /// What the acceptance of the trial message means, in words.
    func acceptance(hasDevice: Bool) -> String

    /// How its host behaves in a TLS handshake that only tests reachability.
    var handshake: GatewayHandshake { get }

    /// What users must know before an account uses it; nil for nothing.
    var remark: String? { get }
}

extension GatewayKind {
    package var answersWithoutDevice: Bool { true }
    package var handshake: GatewayHandshake { GatewayHandshake() }
    package var remark: String? { nil }
}

/// How a gateway's host behaves in a TLS handshake that only tests reachability.
package struct GatewayHandshake: Sendable, Hashable {
    /// Whether to offer HTTP/2: most gateways speak nothing else, and some end the handshake if it is not offered.
    package var offersHTTP2: Bool
    /// Whether it ends the handshake with a client without a certificate, after presenting its own.
    package var endsWithoutCertificate: Bool

    package init(offersHTTP2: Bool = true, endsWithoutCertificate: Bool = false) {
        self.offersHTTP2 = offersHTTP2
        self.endsWithoutCertificate = endsWithoutCertificate
    }
}
