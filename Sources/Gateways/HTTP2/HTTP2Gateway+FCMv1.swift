import CurlClient
import HTTP2
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The way to FCM over its HTTP v1 API, with a service account.
extension HTTP2Gateway {
    /// FCM's servers allow this many streams a connection and end those that open more.
    private static let streamsPerConnection = 100

    /// Makes a gateway; ``start()`` connects it and fetches the first access token.
    ///
    /// - Parameters:
    ///   - curl: what the token endpoint is asked with.
    ///   - now: the time for the grant's `iat`, of the database's clock.
    ///   - delegate: told of outcomes and events on `eventLoop`; kept until ``shutdown()``.
    public convenience init(
        fcmV1 configuration: FCMv1GatewayConfiguration,
        serviceAccount: ServiceAccount,
        curl: CurlClient,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        var http2 = HTTP2ClientConfiguration(
            host: configuration.address.host,
            port: configuration.address.port,
            connections: max(1, configuration.connections),
            tls: HTTP2TLS(trustRootsFile: configuration.trustRootsFile),
            initialMaxConcurrentStreams: Self.streamsPerConnection
        )
        http2.maxConcurrentStreams = Self.streamsPerConnection
        http2.proxy = configuration.proxy?.http2(for: configuration.address.host)
        // FCM closes idle connections after minutes and polices PINGs: what is closed is dialled again when there is work.
        http2.dialsLazily = true
        http2.requestTimeoutMilliseconds = configuration.requestTimeoutMilliseconds
        http2.connectTimeoutMilliseconds = configuration.connectTimeoutMilliseconds
        let fetcher = AccessTokenFetcher(
            account: serviceAccount,
            curl: curl,
            trustRootsFile: configuration.trustRootsFile,
            proxy: configuration.proxy?.curl(for: GatewayProxy.host(of: serviceAccount.tokenURI)) ?? .none,
            now: now
        )
        self.init(
            .fcmV1,
            GatewayLimits(maxPayloadBytes: PayloadLimits.fcm),
            address: configuration.address,
            configuration: http2,
            dialect: FCMv1Dialect(
                authority: configuration.address.authority,
                projectID: serviceAccount.projectID,
                refresh: AccessTokenRefresh(fetcher: fetcher, eventLoop: eventLoop),
                now: now
            ),
            eventLoop: eventLoop,
            delegate: delegate
        )
    }
}

/// The settings of a way to FCM HTTP v1.
public struct FCMv1GatewayConfiguration: Sendable {
    /// Where the gateway listens; the token endpoint stands in the service account.
    public var address: GatewayAddress
    /// How many connections are held, 1 or more.
    public var connections: Int
    /// A PEM file with the trusted roots for the gateway and the token endpoint; nil means the system's.
    public var trustRootsFile: String?
    /// The proxy on the way to the gateway and to the token endpoint; nil for none.
    public var proxy: GatewayProxy?
    /// A message without an answer for so long is ambiguous, in milliseconds; Firebase asks for 10,000 or more.
    public var requestTimeoutMilliseconds: Int64 = 60_000
    /// The time for TCP, TLS and the first SETTINGS frame together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64 = 20_000

    /// Makes settings.
    public init(address: GatewayAddress, connections: Int = 1, trustRootsFile: String? = nil) {
        self.address = address
        self.connections = connections
        self.trustRootsFile = trustRootsFile
    }
}
