import HTTP2
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The way to APNs over HTTP/2 with token authentication.
///
/// It stays alive and connected until ``shutdown()``.
public final class APNsGateway: Gateway {
    public let limits = GatewayLimits(maxPayloadBytes: PayloadLimits.apns)
    private let core: GatewayCore

    /// Makes a gateway; ``start()`` connects it.
    ///
    /// - Parameters:
    ///   - tokens: the one token source of the application's key in this process.
    ///   - now: the time that `apns-expiration` is counted from.
    ///   - delegate: told of outcomes and events on `eventLoop`; kept until ``shutdown()``.
    public init(
        configuration: APNsGatewayConfiguration,
        tokens: ProviderTokenSource,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        var http2 = HTTP2ClientConfiguration(
            host: configuration.address.host,
            port: configuration.address.port,
            connections: max(1, configuration.connections),
            tls: HTTP2TLS(trustRootsFile: configuration.trustRootsFile),
            // "When using an authentication token, APNs allows only one stream until you post a request with a valid
            // authentication token" (Apple, "Sending notification requests to APNs").
            initialMaxConcurrentStreams: 1
        )
        http2.requestTimeoutMilliseconds = configuration.requestTimeoutMilliseconds
        http2.connectTimeoutMilliseconds = configuration.connectTimeoutMilliseconds
        core = GatewayCore(
            address: configuration.address,
            configuration: http2,
            dialect: APNsDialect(configuration: configuration, tokens: tokens, now: now),
            eventLoop: eventLoop,
            delegate: delegate
        )
    }

    public func start() async throws {
        try await core.start()
    }

    public func submit(_ batch: GatewayRequestBatch) {
        core.submit(batch)
    }

    public func cancelQueued() {
        core.cancelQueued()
    }

    public func status() async -> GatewayStatus {
        await core.status()
    }

    public func shutdown() async {
        await core.shutdown()
    }
}
