import CCurl

extension CurlError {
    /// Makes an error of a failed transfer.
    ///
    /// - Parameters:
    ///   - result: libcurl's result, not `CURLE_OK`.
    ///   - server: scheme, host and port as they may be shown.
    ///   - detail: the text of libcurl's error buffer, may be empty.
    ///   - mayHaveBeenSent: whether bytes of the request left.
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
