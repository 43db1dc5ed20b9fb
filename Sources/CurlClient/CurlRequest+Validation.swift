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
