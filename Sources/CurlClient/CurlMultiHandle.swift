import CCurl

/// libcurl's handle for transfers side by side.
///
/// `@unchecked Sendable`: only the client's thread uses the handle, but for `wakeUp`, which libcurl allows from any thread
/// (curl_multi_wakeup(3)) and which ``CurlWorker`` calls only while the thread has not begun to close the handle.
struct CurlMultiHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    /// Connections that are kept for later requests; far more than run side by side.
    private static let mostConnections = 512

    /// libcurl's global set-up, thread safe since 7.84 and done once here.
    private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Returns nil when memory is short.
    init?() {
        guard Self.isInitialised, let pointer = curl_multi_init() else { return nil }
        self.pointer = pointer
        // Otherwise libcurl closes idle connections beyond four times the requests that are on their way at the moment.
        ccurl_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, Self.mostConnections)
    }

    func wakeUp() {
        curl_multi_wakeup(pointer)
    }

    func close() {
        curl_multi_cleanup(pointer)
    }
}
