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
    /// Whether HTTP/2 is offered beside HTTP/1.1 in the TLS handshake: some servers speak nothing else, and end the handshake of
    /// who does not.
    public var offersHTTP2 = false

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

extension CurlRequest {
    /// Scheme, host and port of the address, as they may be shown and logged.
    var server: String {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else {
            return "an address without scheme"
        }
        let start = url.index(colon, offsetBy: 3)
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // A user name or password before the @ is not shown.
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return String(url[..<start]) + host
    }

    /// Refuses what would let one value become two lines of the request, and limits without sense.
    func validate() throws(CurlError) {
        guard !method.isEmpty, method.utf8.allSatisfy(Self.isTokenByte) else {
            throw CurlError(.invalidRequest, "request to \(server) not sent: its method is no HTTP method")
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
        guard timeoutMilliseconds > 0, connectTimeoutMilliseconds > 0, maximumResponseBytes >= 0 else {
            throw CurlError(.invalidRequest, "request to \(server) not sent: timeouts must be positive")
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

public struct CurlResponse: Sendable {
    /// The HTTP status, 200 to 599. A redirect is returned, not followed.
    public var status: Int
    /// The header fields of the final answer in their order.
    public var headers: [CurlHeader]
    public var body: [UInt8]

    public init(status: Int, headers: [CurlHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the first value of a field; names are compared without regard to case.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}

public struct CurlHeader: Sendable, Equatable {
    /// The field's name as it is written.
    public var name: String
    /// The field's value without surrounding white space.
    public var value: String

    /// Makes a field; a line break in name or value is refused when the request is performed.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The way that a request takes to its server.
public enum CurlProxy: Sendable, Equatable {
    /// Directly, whatever the environment says.
    case none
    /// As the variables `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy` say.
    case environment
    /// Through this proxy, for example `http://proxy.example:3128`; `https` servers by CONNECT.
    case url(String)
}
