import CurlClient
import HTTP2
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The gateway for FCM's HTTP v1 API, with Google access tokens.
extension GatewayEngine {
    /// FCM's servers allow this many streams per connection and close connections that open more.
    private static let streamsPerConnection = 100

    /// Makes a gateway; ``start()`` connects it and fetches the first access token.
    ///
    /// - Parameters:
    ///   - curl: the HTTP client for the token endpoint.
    ///   - now: the time for the grant's `iat`, of the database's clock.
    ///   - delegate: gets outcomes and events on `eventLoop`; kept until ``shutdown()``.
    package convenience init(
        fcmV1 options: GatewayOptions,
        account: GoogleAccount,
        curl: CurlClient,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        var http2 = HTTP2ClientConfiguration(options, initialMaxConcurrentStreams: Self.streamsPerConnection)
        http2.maxConcurrentStreams = Self.streamsPerConnection
        // FCM closes idle connections after some minutes and limits PINGs. A closed connection is dialled again when
        // there is work.
        http2.dialsLazily = true
        let fetcher = AccessTokenFetcher(
            account: account,
            curl: curl,
            trustRootsFile: options.trustRootsFile,
            proxy: options.proxy,
            policy: options.tokenSources,
            now: now
        )
        self.init(
            .fcmV1,
            GatewayLimits(maxPayloadBytes: PayloadLimits.fcm),
            address: options.address,
            configuration: http2,
            project: account.projectID,
            dialect: FCMv1Dialect(
                authority: options.address.authority,
                projectID: account.projectID,
                refresh: AccessTokenRefresh(fetcher: fetcher, eventLoop: eventLoop),
                now: now
            ),
            eventLoop: eventLoop,
            delegate: delegate
        )
    }
}
