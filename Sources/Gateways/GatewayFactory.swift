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
    ///   - address: where the gateway listens, see ``GatewayAddress/standard(_:_:)``.
    ///   - credential: what the application proves itself with.
    ///   - topic: the application's bundle id; not used for Android.
    ///   - connections: the most connections; `android-v1` always has one.
    ///   - options: timeouts and trust.
    ///   - delegate: told of outcomes and events on `eventLoop`; kept until the gateway is shut down.
    /// - Throws: `GatewayCredentialError` when the credential is malformed or of the wrong kind for the connector.
    public func make(
        connector: Connector,
        address: GatewayAddress,
        credential: GatewayCredential,
        topic: String,
        connections: Int,
        options: GatewayOptions = GatewayOptions(),
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) throws(GatewayCredentialError) -> any Gateway {
        switch (connector, credential) {
        case (.iosHTTP2, .apnsTokenKey), (.iosHTTP2, .apnsCertificate):
            let topic = try self.topic(topic)
            var configuration = APNsGatewayConfiguration(
                address: address,
                connections: connections,
                topic: topic,
                trustRootsFile: options.trustRootsFile
            )
            configuration.proxy = options.proxy?.http2(for: address.host)
            configuration.requestTimeoutMilliseconds = options.requestTimeoutMilliseconds
            configuration.connectTimeoutMilliseconds = options.connectTimeoutMilliseconds
            return HTTP2Gateway(
                apns: configuration,
                authentication: try authentication(credential, connector),
                now: now,
                eventLoop: eventLoop,
                delegate: delegate
            )
        case (.androidV1, .serviceAccount(let json)), (.androidV2, .serviceAccount(let json)):
            let account = try ServiceAccount(json: json)
            var configuration = FCMv1GatewayConfiguration(
                address: address,
                connections: connector == .androidV1 ? 1 : connections,
                trustRootsFile: options.trustRootsFile
            )
            configuration.proxy = options.proxy
            configuration.requestTimeoutMilliseconds = options.requestTimeoutMilliseconds
            configuration.connectTimeoutMilliseconds = options.connectTimeoutMilliseconds
            return HTTP2Gateway(
                fcmV1: configuration,
                serviceAccount: account,
                curl: curl,
                now: now,
                eventLoop: eventLoop,
                delegate: delegate
            )
        case (.androidV1, .projectKey(let key)), (.androidV2, .projectKey(let key)):
            var configuration = FCMLegacyGatewayConfiguration(
                address: address,
                connections: connector == .androidV1 ? 1 : connections,
                trustRootsFile: options.trustRootsFile
            )
            configuration.proxy = options.proxy?.curl(for: address.host) ?? .none
            configuration.requestTimeoutMilliseconds = options.requestTimeoutMilliseconds
            configuration.connectTimeoutMilliseconds = options.connectTimeoutMilliseconds
            return FCMLegacyGateway(
                configuration: configuration,
                projectKey: try FCMProjectKey(key),
                now: now,
                eventLoop: eventLoop,
                delegate: delegate
            )
        case (.iosBinary, .apnsCertificate(let pkcs12, let passphrase)):
            let certificate = try certificate(pkcs12, passphrase)
            // The gateway takes the topic from the certificate: with another app's every token would be invalid.
            try certificate.requireTopic(self.topic(topic))
            var configuration = APNsBinaryGatewayConfiguration(
                address: address,
                connections: connections,
                certificateChain: certificate.certificateChain,
                privateKey: certificate.privateKey,
                trustRootsFile: options.trustRootsFile
            )
            configuration.proxy = options.proxy?.http2(for: address.host)
            configuration.sendAhead = options.sendAhead
            configuration.presumedAcceptedMilliseconds = options.presumedAcceptedMilliseconds
            configuration.requestTimeoutMilliseconds = options.requestTimeoutMilliseconds
            configuration.connectTimeoutMilliseconds = options.connectTimeoutMilliseconds
            return APNsBinaryGateway(
                configuration: configuration,
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
        address: GatewayAddress,
        credential: GatewayCredential,
        options: GatewayOptions = GatewayOptions()
    ) throws(GatewayCredentialError) -> APNsFeedbackReader {
        guard case .apnsCertificate(let pkcs12, let passphrase) = credential else {
            throw CredentialChoice.mismatch(.iosBinary, credential)
        }
        let certificate = try certificate(pkcs12, passphrase)
        return APNsFeedbackReader(
            address: address,
            certificateChain: certificate.certificateChain,
            privateKey: certificate.privateKey,
            trustRootsFile: options.trustRootsFile,
            proxy: options.proxy?.http2(for: address.host),
            connectTimeoutMilliseconds: options.connectTimeoutMilliseconds,
            silenceMilliseconds: options.requestTimeoutMilliseconds
        )
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
        let certificate = try ClientCertificate(pkcs12: pkcs12, passphrase: passphrase)
        try certificate.requireValidity(at: now())
        return certificate
    }
}

/// Settings that all kinds of gateways have.
public struct GatewayOptions: Sendable, Hashable {
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The HTTP proxy on the way to gateways and token endpoints; nil for none.
    public var proxy: GatewayProxy?
    /// A message without an answer for so long is ambiguous, in milliseconds.
    public var requestTimeoutMilliseconds: Int64
    /// The time for TCP, TLS and the first SETTINGS frame together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64

    /// Binary protocol: how many messages a connection may have on the wire whose fate is open, at most.
    public var sendAhead = 30_000
    /// Binary protocol: a message of which nothing was heard for so long counts as accepted, in milliseconds.
    public var presumedAcceptedMilliseconds: Int64 = 5_000

    /// Makes settings.
    public init(
        trustRootsFile: String? = nil,
        proxy: GatewayProxy? = nil,
        requestTimeoutMilliseconds: Int64 = 60_000,
        connectTimeoutMilliseconds: Int64 = 20_000
    ) {
        self.trustRootsFile = trustRootsFile
        self.proxy = proxy
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }
}
