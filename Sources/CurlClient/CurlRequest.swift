/// One HTTP request that ``CurlClient`` performs.
public struct CurlRequest: Sendable {
    /// The method, upper case: `GET`, `POST`, `PUT`, `DELETE`, `HEAD`.
    public var method: String
    /// The absolute address, `https://…` or `http://…`, without user name and password.
    public var url: String
    /// Header fields in the order in which they are sent.
    public var headers: [CurlHeader]
    /// The body; empty for none.
    public var body: [UInt8]
    /// Longest time from the start of the transfer to its last byte, in milliseconds, at least 1.
    public var timeoutMilliseconds: Int
    /// Longest time for name resolution, TCP and TLS together, in milliseconds, at least 1.
    public var connectTimeoutMilliseconds: Int
    /// Path of a PEM file whose certificates alone are trusted; nil for the system's.
    public var certificateAuthorityFile: String?
    /// The way to the server.
    public var proxy: CurlProxy
    /// Largest body that is accepted, in bytes.
    public var maximumResponseBytes: Int
    /// Whether the request may travel on a connection left by an earlier one.
    ///
    /// libcurl would silently send a request again when such a connection ends before its first byte of answer; the client
    /// does not let it, so that such a request fails with ``CurlError/mayHaveBeenSent``.
    public var reusesConnection: Bool

    /// Makes a request.
    ///
    /// The limits by default suit small answers such as a token endpoint's: 30 s in all, 10 s to connect, 1 MiB.
    public init(
        method: String = "GET",
        url: String,
        headers: [CurlHeader] = [],
        body: [UInt8] = [],
        timeoutMilliseconds: Int = 30_000,
        connectTimeoutMilliseconds: Int = 10_000,
        certificateAuthorityFile: String? = nil,
        proxy: CurlProxy = .none,
        maximumResponseBytes: Int = 1 << 20,
        reusesConnection: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMilliseconds = timeoutMilliseconds
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
        self.certificateAuthorityFile = certificateAuthorityFile
        self.proxy = proxy
        self.maximumResponseBytes = maximumResponseBytes
        self.reusesConnection = reusesConnection
    }
}
