import CurlClient
import HTTP2
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The way to FCM over its HTTP v1 API, with access tokens of Google's.
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
        fcmV1 options: GatewayOptions,
        account: GoogleAccount,
        curl: CurlClient,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        var http2 = HTTP2ClientConfiguration(options, initialMaxConcurrentStreams: Self.streamsPerConnection)
        http2.maxConcurrentStreams = Self.streamsPerConnection
        // FCM closes idle connections after minutes and polices PINGs: what is closed is dialled again when there is work.
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
