import HTTP2
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The gateway for APNs, with token or certificate authentication.
extension GatewayEngine {
    /// Makes a gateway; ``start()`` connects it.
    ///
    /// - Parameters:
    ///   - topic: the application's bundle id.
    ///   - authentication: the application's key or certificate.
    ///   - now: the time that `apns-expiration` is counted from.
    ///   - delegate: gets outcomes and events on `eventLoop`; kept until ``shutdown()``.
    package convenience init(
        apns options: GatewayOptions,
        topic: String,
        authentication: APNsAuthentication,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.init(
            .apns,
            GatewayLimits(maxPayloadBytes: PayloadLimits.apns),
            address: options.address,
            configuration: HTTP2ClientConfiguration(
                options,
                identity: Self.identity(authentication),
                initialMaxConcurrentStreams: Self.firstStreamLimit(authentication)
            ),
            dialect: APNsDialect(
                authority: options.address.authority,
                topic: topic,
                authentication: authentication,
                now: now
            ),
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

    /// "When using an authentication token, APNs allows only one stream until you post a request with a valid
    /// authentication token" (Apple, "Sending notification requests to APNs"); with a certificate it allows 1,000 at
    /// once, as observed on the wire.
    private static func firstStreamLimit(_ authentication: APNsAuthentication) -> Int {
        switch authentication {
        case .providerTokens: 1
        case .certificate: 1_000
        }
    }
}

/// What a gateway for APNs authenticates with.
package enum APNsAuthentication: Sendable {
    /// The process's shared token source for the application's key.
    case providerTokens(ProviderTokenSource)
    /// The application's certificate, in the TLS handshake.
    case certificate(ClientCertificate)
}
