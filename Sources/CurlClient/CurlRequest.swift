/// One HTTP request that ``CurlClient`` performs.
package struct CurlRequest: Sendable {
    /// The method, upper case: `GET`, `POST`, `PUT`, `DELETE`, `HEAD`.
    package var method: String
    /// The absolute URL, `https://…` or `http://…`, without a user name or password.
    package var url: String
    /// Header fields, in the order in which they are sent.
    package var headers: [CurlHeader]
    /// The body; empty for none.
    package var body: [UInt8]
    /// The maximum time from the start of the transfer to its last byte, in milliseconds; at least 1.
    package var timeoutMilliseconds: Int
    /// The maximum time for name resolution, TCP and TLS together, in milliseconds; at least 1.
    package var connectTimeoutMilliseconds: Int
    /// The path of a PEM file with the only trusted certificates; nil for the system's authorities.
    package var certificateAuthorityFile: String?
    /// How the server is reached.
    package var proxy: CurlProxy
    /// The maximum size of the response's body, in bytes.
    package var maxResponseBytes: Int
    /// Whether the request may reuse the connection of an earlier one.
    ///
    /// If such a connection ends before the first byte of the response, libcurl would silently send the request again.
    /// The client prevents that: the request fails with ``CurlError/mayHaveBeenSent``.
    package var reusesConnection: Bool
    /// Whether the TLS handshake offers HTTP/2 in addition to HTTP/1.1. Some servers speak only HTTP/2 and end the
    /// handshake if it is not offered.
    package var offersHTTP2 = false

    /// Makes a request.
    ///
    /// The default limits suit small responses such as a token endpoint's: 30 s in total, 10 s to connect, 1 MiB.
    package init(
        method: String = "GET",
        url: String,
        headers: [CurlHeader] = [],
        body: [UInt8] = [],
        timeoutMilliseconds: Int = 30_000,
        connectTimeoutMilliseconds: Int = 10_000,
        certificateAuthorityFile: String? = nil,
        proxy: CurlProxy = .none,
        maxResponseBytes: Int = 1 << 20,
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
        self.maxResponseBytes = maxResponseBytes
        self.reusesConnection = reusesConnection
    }
}

extension CurlRequest {
    /// Scheme, host and port of the address, safe to show and log.
    var server: String {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else {
            return "an address without a scheme"
        }
        let start = url.index(colon, offsetBy: 3)
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // Hides a user name and password before the @.
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return String(url[..<start]) + host
    }

    /// Refuses values that could inject a line into the request, and limits out of range.
    func validate() throws(CurlError) {
        guard !method.isEmpty, method.utf8.allSatisfy(Self.isTokenByte) else {
            throw CurlError(.invalidRequest, "request to \(server) not sent: its method is not an HTTP method")
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw CurlError(
                .invalidRequest,
                "request to \(server) not sent: its address contains a space or control byte"
            )
        }
        for header in headers {
            guard !header.name.isEmpty, header.name.utf8.allSatisfy(Self.isTokenByte) else {
                throw CurlError(.invalidRequest, "request to \(server) not sent: a header name is malformed")
            }
            guard !header.value.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
                throw CurlError(
                    .invalidRequest,
                    "request to \(server) not sent: header \(header.name) contains a line break"
                )
            }
        }
        guard timeoutMilliseconds > 0, connectTimeoutMilliseconds > 0, maxResponseBytes >= 0 else {
            throw CurlError(
                .invalidRequest,
                "request to \(server) not sent: its timeouts must be positive, its size limit not negative"
            )
        }
    }

    /// RFC 9110 section 5.6.2, `tchar`.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
