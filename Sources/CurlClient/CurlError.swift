import CCurl

/// A request that got no response.
///
/// The description names the server, never the path, the query, a header or the body.
package struct CurlError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, as far as callers distinguish.
    package enum Code: String, Sendable {
        /// The request is invalid, for example because of a malformed address.
        case invalidRequest
        /// The name of the host or of the proxy cannot be resolved.
        case resolve
        /// The connection could not be opened.
        case connect
        /// The TLS handshake failed, the certificate is not trusted, or the CA file cannot be used.
        case tls
        /// The timeout passed.
        case timeout
        /// The connection ended during the exchange, or the response is not HTTP.
        case transfer
        /// The response is larger than ``CurlRequest/maxResponseBytes`` or its header fields exceed 64 KiB.
        case responseTooLarge
        /// The caller cancelled it.
        case cancelled
        /// A connection was ready and the caller's `mayLeave` returned false.
        case withheld
        /// The client could not be started.
        case unavailable
    }

    /// The class of the error.
    package let code: Code
    /// libcurl's number (`CURLcode`); 0 if the error is not libcurl's.
    package let curlCode: Int32
    /// Whether bytes of the request may have reached the server, which may have acted on them.
    package let mayHaveBeenSent: Bool
    /// What happened, to which server, and why.
    package let message: String
    /// libcurl's message alone; empty if the error is not libcurl's.
    package let cause: String

    package init(
        _ code: Code,
        _ message: String,
        curlCode: Int32 = 0,
        mayHaveBeenSent: Bool = false,
        cause: String = ""
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.curlCode = curlCode
        self.mayHaveBeenSent = mayHaveBeenSent
    }

    package var description: String { message }
}

extension CurlError {
    /// Makes the error for a failed transfer.
    ///
    /// - Parameters:
    ///   - result: libcurl's result, not `CURLE_OK`.
    ///   - server: scheme, host and port, safe to show.
    ///   - detail: the text of libcurl's error buffer; may be empty.
    ///   - mayHaveBeenSent: whether bytes of the request may have been sent.
    init(result: CURLcode, server: String, detail: String, mayHaveBeenSent: Bool) {
        let code = Self.code(of: result)
        let cause = detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail
        self.init(
            code,
            "request to \(server) failed: \(cause). \(Self.remedy(for: code))",
            curlCode: Int32(bitPattern: result.rawValue),
            mayHaveBeenSent: mayHaveBeenSent,
            cause: cause
        )
    }

    private static func code(of result: CURLcode) -> Code {
        switch result {
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED, CURLE_BAD_FUNCTION_ARGUMENT,
            CURLE_UNKNOWN_OPTION, CURLE_NOT_BUILT_IN:
            .invalidRequest
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            .resolve
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            .connect
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
            .tls
        case CURLE_OPERATION_TIMEDOUT:
            .timeout
        case CURLE_FILESIZE_EXCEEDED:
            .responseTooLarge
        case CURLE_FAILED_INIT, CURLE_OUT_OF_MEMORY:
            .unavailable
        default:
            .transfer
        }
    }

    private static func remedy(for code: Code) -> String {
        switch code {
        case .invalidRequest: "Check the address in the settings."
        case .resolve: "Check the host name and the DNS of this machine."
        case .connect: "Check address, port, firewall and proxy."
        case .tls: "Check the server's certificate, this machine's clock and the CA file."
        case .timeout: "Check the network, or raise the timeout."
        case .responseTooLarge: "Check that the address is the right server's."
        case .unavailable: "Check memory and thread limits of this machine."
        case .transfer, .cancelled, .withheld: "It can be tried again."
        }
    }
}
