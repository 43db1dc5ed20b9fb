import HTTP2
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The way to APNs, with token or certificate authentication.
extension HTTP2Gateway {
    /// Makes a gateway; ``start()`` connects it.
    ///
    /// - Parameters:
    ///   - authentication: the application's key or certificate.
    ///   - now: the time that `apns-expiration` is counted from.
    ///   - delegate: told of outcomes and events on `eventLoop`; kept until ``shutdown()``.
    public convenience init(
        apns configuration: APNsGatewayConfiguration,
        authentication: APNsAuthentication,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        var http2 = HTTP2ClientConfiguration(
            host: configuration.address.host,
            port: configuration.address.port,
            connections: max(1, configuration.connections),
            tls: HTTP2TLS(trustRootsFile: configuration.trustRootsFile, identity: Self.identity(authentication)),
            initialMaxConcurrentStreams: Self.firstStreamLimit(authentication)
        )
        http2.proxy = configuration.proxy
        http2.requestTimeoutMilliseconds = configuration.requestTimeoutMilliseconds
        http2.connectTimeoutMilliseconds = configuration.connectTimeoutMilliseconds
        self.init(
            .apns,
            GatewayLimits(maxPayloadBytes: PayloadLimits.apns),
            address: configuration.address,
            configuration: http2,
            dialect: APNsDialect(configuration: configuration, authentication: authentication, now: now),
            eventLoop: eventLoop,
            delegate: delegate
        )
    }

    private static func identity(_ authentication: APNsAuthentication) -> HTTP2TLSIdentity? {
        guard case .certificate(let certificate) = authentication else { return nil }
        return HTTP2TLSIdentity(
            certificateChain: certificate.certificateChain,
            privateKey: certificate.privateKey
        )
    }

    /// "When using an authentication token, APNs allows only one stream until you post a request with a valid authentication
    /// token" (Apple, "Sending notification requests to APNs"); with a certificate it allows 1,000 at once, as seen on the wire.
    private static func firstStreamLimit(_ authentication: APNsAuthentication) -> Int {
        switch authentication {
        case .providerTokens: 1
        case .certificate: 1_000
        }
    }
}

/// The settings of a way to APNs.
public struct APNsGatewayConfiguration: Sendable {
    /// Where the gateway listens.
    public var address: GatewayAddress
    /// How many connections are held, 1 or more.
    public var connections: Int
    /// The application's bundle id.
    public var topic: String
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The proxy on the way; nil for none.
    public var proxy: HTTP2Proxy?
    /// A message without an answer for so long is ambiguous, in milliseconds.
    public var requestTimeoutMilliseconds: Int64 = 60_000
    /// The time for TCP, TLS and the first SETTINGS frame together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64 = 20_000

    /// Makes settings.
    public init(address: GatewayAddress, connections: Int = 1, topic: String, trustRootsFile: String? = nil) {
        self.address = address
        self.connections = connections
        self.topic = topic
        self.trustRootsFile = trustRootsFile
    }
}

/// What a way to APNs proves itself with.
public enum APNsAuthentication: Sendable {
    /// The one token source of the application's key in this process.
    case providerTokens(ProviderTokenSource)
    /// The application's certificate, with the TLS connection itself.
    case certificate(ClientCertificate)
}
