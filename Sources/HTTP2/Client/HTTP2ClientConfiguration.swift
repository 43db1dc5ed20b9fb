/// The settings of a set of connections to one server.
package struct HTTP2ClientConfiguration: Sendable {
    package var host: String
    package var port: Int
    /// The options that do not depend on the protocol.
    package var connections: ConnectionOptions
    /// Nil for HTTP/2 over plain TCP with prior knowledge.
    package var tls: HTTP2TLS?
    /// The proxy that connections go through; nil for none.
    package var proxy: HTTP2Proxy?
    /// Concurrent streams until the server's SETTINGS give a limit: 1 for APNs with tokens, 1,000 with a certificate,
    /// 100 for FCM.
    package var initialMaxConcurrentStreams: Int
    /// Our own maximum per connection; 1,000 is what APNs announces. A server that gives no limit gets 100 streams.
    package var maxConcurrentStreams = 1_000
    /// After this long without anything read while requests are outstanding, a PING is sent. Go and pushy use 15 s as
    /// well.
    package var pingAfterSilenceMilliseconds: Int64 = 15_000
    /// A PING that is not answered for this long ends the connection.
    package var pingTimeoutMilliseconds: Int64 = 15_000
    /// After this many missed deadlines in a row, without any response, the connection is retired.
    package var timeoutsBeforeRetirement = 3
    /// Whether to connect only while requests wait. For FCM, which closes idle connections after minutes and limits
    /// PINGs.
    package var dialsLazily = false
    /// A connection is retired before it opens a stream with this id or a higher one; 2^31-1 is the protocol's maximum.
    package var lastStreamID: Int32 = .max

    package init(
        host: String,
        port: Int,
        connections: ConnectionOptions,
        tls: HTTP2TLS? = HTTP2TLS(),
        initialMaxConcurrentStreams: Int
    ) {
        self.host = host
        self.port = port
        self.connections = connections
        self.tls = tls
        self.initialMaxConcurrentStreams = initialMaxConcurrentStreams
    }
}
