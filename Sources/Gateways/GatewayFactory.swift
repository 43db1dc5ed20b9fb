import CurlClient
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes gateways of plain values, so that a child does not know the kinds of gateways.
///
/// One factory a process: it holds what gateways share, that is the provider token of each APNs key and the HTTP client for
/// token endpoints.
public final class GatewayFactory: Sendable {
    let now: @Sendable () -> Date
    private let sources: ProviderTokenSources
    let curl = CurlClient()

    /// Makes a factory.
    ///
    /// - Parameter now: the time of the database's clock.
    public init(now: @escaping @Sendable () -> Date) {
        self.now = now
        sources = ProviderTokenSources(now: now)
    }

    /// Makes the gateway of a connector; it is not started yet.
    ///
    /// - Parameters:
    ///   - connector: the external account's connector.
    ///   - credential: what the application proves itself with.
    ///   - topic: the application's bundle id; not used for Android.
    ///   - options: how the gateway is reached.
    ///   - delegate: told of outcomes and events on `eventLoop`; kept until the gateway is shut down.
    /// - Throws: `GatewayCredentialError` when the credential is malformed or of the wrong kind for the connector.
    public func make(
        connector: Connector,
        credential: GatewayCredential,
        topic: String,
        options: GatewayOptions,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) throws(GatewayCredentialError) -> any Gateway {
        switch (connector, credential) {
        case (.iosHTTP2, .apnsTokenKey), (.iosHTTP2, .apnsCertificate):
            return HTTP2Gateway(
                apns: options,
                topic: try self.topic(topic),
                authentication: try authentication(credential, connector),
                now: now,
                eventLoop: eventLoop,
                delegate: delegate
            )
        case (.androidV1, .serviceAccount(let json)), (.androidV2, .serviceAccount(let json)):
            let account = try GoogleAccount(json: json)
            // Only the operator names authorities; an account of Google's own gateway has none.
            try account.requireAllowed(
                by: options.tokenSources,
                gateways: options.trustRootsFile == nil ? [] : [options.address.host]
            )
            return HTTP2Gateway(
                fcmV1: options,
                account: account,
                curl: curl,
                now: now,
                eventLoop: eventLoop,
                delegate: delegate
            )
        case (.androidV1, .projectKey(let key)), (.androidV2, .projectKey(let key)):
            return FCMLegacyGateway(
                options: options,
                projectKey: try FCMProjectKey(key),
                now: now,
                eventLoop: eventLoop,
                delegate: delegate
            )
        case (.iosBinary, .apnsCertificate(let pkcs12, let passphrase)):
            let certificate = try certificate(pkcs12, passphrase)
            // The gateway takes the topic from the certificate: with another app's every token would be invalid.
            try certificate.requireTopic(self.topic(topic))
            return APNsBinaryGateway(
                options: options,
                certificate: certificate,
                now: now,
                eventLoop: eventLoop,
                delegate: delegate
            )
        case (.iosBinary, _), (.iosHTTP2, _), (.androidV1, _), (.androidV2, _):
            throw CredentialChoice.mismatch(connector, credential)
        }
    }

    /// Makes the reader of a binary gateway's feedback service.
    ///
    /// - Throws: `GatewayCredentialError` when the credential is malformed or no certificate.
    public func feedbackReader(
        credential: GatewayCredential,
        options: GatewayOptions
    ) throws(GatewayCredentialError) -> APNsFeedbackReader {
        guard case .apnsCertificate(let pkcs12, let passphrase) = credential else {
            throw CredentialChoice.mismatch(.iosBinary, credential)
        }
        return APNsFeedbackReader(options: options, certificate: try certificate(pkcs12, passphrase))
    }

    private func authentication(
        _ credential: GatewayCredential,
        _ connector: Connector
    ) throws(GatewayCredentialError) -> APNsAuthentication {
        switch credential {
        case .apnsTokenKey(let keyID, let teamID, let pem):
            return .providerTokens(sources.source(of: try APNsTokenKey(keyID: keyID, teamID: teamID, pem: pem)))
        case .apnsCertificate(let pkcs12, let passphrase):
            return .certificate(try certificate(pkcs12, passphrase))
        case .serviceAccount, .projectKey:
            throw CredentialChoice.mismatch(connector, credential)
        }
    }

    /// The topic as a header can carry it; a request with any other one would be reset without an answer.
    private func topic(_ bundleID: String) throws(GatewayCredentialError) -> String {
        let topic = HeaderText.cleaned(bundleID)
        guard topic.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw GatewayCredentialError(
                .wrongApplication,
                "the application's bundle id is none: correct it with pushmta app set --bundle-id"
            )
        }
        return topic
    }

    /// An application's certificate whose time has not run out: an expired one is not shown to the gateway.
    func certificate(_ pkcs12: [UInt8], _ passphrase: String) throws(GatewayCredentialError) -> ClientCertificate {
        let certificate = try ClientCertificate(file: pkcs12, passphrase: passphrase, now: now())
        try certificate.requireValidity(at: now())
        return certificate
    }
}
