import CurlClient
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes gateways from plain values, so that a child need not know the kinds of gateways.
///
/// One factory per process. It holds what gateways share: the provider token of each APNs key and the HTTP client for
/// token endpoints.
package final class GatewayFactory: Sendable {
    private let registry: GatewayRegistry
    private let now: @Sendable () -> Date
    private let sources: ProviderTokenSources
    private let curl = CurlClient()

    /// Makes a factory.
    ///
    /// - Parameters:
    ///   - registry: the kinds of gateways.
    ///   - now: the time of the database's clock.
    package init(_ registry: GatewayRegistry, now: @escaping @Sendable () -> Date) {
        self.registry = registry
        self.now = now
        sources = ProviderTokenSources(now: now)
    }

    /// Makes the gateway for a connector, not yet started.
    ///
    /// - Parameters:
    ///   - connector: the external account's connector.
    ///   - credential: what the application authenticates with.
    ///   - topic: the application's bundle id; not used for Android.
    ///   - options: how the gateway is reached.
    ///   - delegate: gets outcomes and events on `eventLoop`; kept until the gateway is shut down.
    /// - Throws: `GatewayCredentialError` if the credential is malformed or of the wrong kind for the connector.
    package func make(
        connector: Connector,
        credential: GatewayCredential,
        topic: String,
        options: GatewayOptions,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) throws(GatewayCredentialError) -> any Gateway {
        guard let kind = registry.kind(of: connector, with: credential.kind) else {
            throw CredentialChoice.mismatch(connector, credential)
        }
        return try kind.make(
            GatewayOrder(
                connector: connector,
                credential: credential,
                options: options,
                now: now,
                eventLoop: eventLoop,
                delegate: delegate,
                bundleID: topic,
                sources: sources,
                curl: curl
            )
        )
    }
}
