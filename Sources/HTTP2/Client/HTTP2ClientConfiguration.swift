import NIOSSL

/// The settings of a set of connections to one server.
public struct HTTP2ClientConfiguration: Sendable {
    public var host: String
    public var port: Int
    /// The connections, whatever is spoken on them.
    public var connections: ConnectionOptions
    /// nil speaks HTTP/2 over plain TCP with prior knowledge.
    public var tls: HTTP2TLS?
    /// The proxy that connections go through; nil for none.
    public var proxy: HTTP2Proxy?
    /// Concurrent streams until the server's SETTINGS name a limit: 1 for APNs with tokens, 1,000 with a certificate, 100 for
    /// FCM.
    public var initialMaxConcurrentStreams: Int
    /// Our own ceiling per connection: 1,000 is what APNs announces. A server that names no limit gets 100 streams.
    public var maxConcurrentStreams = 1_000
    /// With requests outstanding and nothing read for so long, a PING asks whether the server is there. Go's and pushy's
    /// figure is 15 s as well.
    public var pingAfterSilenceMilliseconds: Int64 = 15_000
    /// A PING without an answer for so long ends the connection.
    public var pingTimeoutMilliseconds: Int64 = 15_000
    /// After so many deadlines in a row without any answer the connection is retired.
    public var timeoutsBeforeRetirement = 3
    /// Connects only while requests wait: for FCM, which closes idle connections after minutes and polices PINGs.
    public var dialsLazily = false
    /// A connection is retired before it opens a stream with this id or a higher one; 2^31-1 is the protocol's last.
    public var lastStreamID: Int32 = .max

    public init(
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

/// A client's connections to one server, whatever is spoken on them.
public struct ConnectionOptions: Sendable, Hashable {
    /// How many are held at most, 1 or more.
    public var count: Int
    /// How many are held at least; as many as at most unless set. Between the two an HTTP/2 client opens what rate and latency ask for, see
    /// ``ConnectionSetSize``.
    public var fewest: Int
    /// A request without an answer for so long is given up and counts as ambiguous. FCM asks for 10 s or more.
    public var requestTimeoutMilliseconds: Int64
    /// The time until a connection can take requests: for the name, TCP, TLS and, with HTTP/2, the first SETTINGS frame together.
    public var connectTimeoutMilliseconds: Int64
    /// The first pause between attempts to connect; it doubles up to the maximum, with jitter.
    public var firstBackOffMilliseconds: Int64 = 1_000
    /// No more than five seconds: nobody waits longer for a server that is back, and only one process of all hosts goes on dialling for long.
    public var maximumBackOffMilliseconds: Int64 = 5_000

    public init(count: Int = 1, requestTimeoutMilliseconds: Int64, connectTimeoutMilliseconds: Int64) {
        self.count = count
        fewest = count
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }
}

/// How a client proves the server's identity, and its own where the server asks for that.
public struct HTTP2TLS: Sendable {
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The name that the certificate must carry and that is sent as SNI; nil means the host.
    public var serverName: String?
    /// The client's certificate; nil for none.
    public var identity: HTTP2TLSIdentity?

    public init(trustRootsFile: String? = nil, serverName: String? = nil, identity: HTTP2TLSIdentity? = nil) {
        self.trustRootsFile = trustRootsFile
        self.serverName = serverName
        self.identity = identity
    }
}

/// What a client proves its own identity with.
public struct HTTP2TLSIdentity: Sendable {
    /// The certificate, then those that signed it.
    public let certificateChain: [NIOSSLCertificate]
    /// The certificate's key.
    public let privateKey: NIOSSLPrivateKey

    public init(certificateChain: [NIOSSLCertificate], privateKey: NIOSSLPrivateKey) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}
