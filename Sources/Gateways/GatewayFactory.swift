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
    private let now: @Sendable () -> Date
    private let sources: ProviderTokenSources
    private let curl = CurlClient()

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
        case (.iosHTTP2, .apnsTokenKey(let keyID, let teamID, let pem)):
            let key = try APNsTokenKey(keyID: keyID, teamID: teamID, pem: pem)
            var configuration = APNsGatewayConfiguration(
                address: address,
                connections: connections,
                topic: topic,
                trustRootsFile: options.trustRootsFile
            )
            configuration.requestTimeoutMilliseconds = options.requestTimeoutMilliseconds
            configuration.connectTimeoutMilliseconds = options.connectTimeoutMilliseconds
            return APNsGateway(
                configuration: configuration,
                tokens: sources.source(of: key),
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
            configuration.requestTimeoutMilliseconds = options.requestTimeoutMilliseconds
            configuration.connectTimeoutMilliseconds = options.connectTimeoutMilliseconds
            return FCMv1Gateway(
                configuration: configuration,
                serviceAccount: account,
                curl: curl,
                now: now,
                eventLoop: eventLoop,
                delegate: delegate
            )
        case (.iosBinary, _):
            throw GatewayCredentialError(
                .wrongKind,
                "connector ios-binary takes no \(credential): use ios-http2, as Apple closed the binary gateway on 31 March 2021"
            )
        case (.iosHTTP2, _):
            throw GatewayCredentialError(
                .wrongKind,
                "connector ios-http2 needs an APNs key (.p8), not a \(credential): set the application's credential"
            )
        case (.androidV1, _), (.androidV2, _):
            throw GatewayCredentialError(
                .wrongKind,
                "connector \(connector.rawValue) needs a service account, not an \(credential): set the application's credential"
            )
        }
    }
}
