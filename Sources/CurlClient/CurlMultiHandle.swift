import CCurl

/// libcurl's handle for transfers side by side.
///
/// `@unchecked Sendable`: only the client's thread uses the handle, but for `wakeUp`, which libcurl allows from any thread
/// (curl_multi_wakeup(3)) and which ``CurlWorker`` calls only while the thread has not begun to close the handle.
struct CurlMultiHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    /// libcurl's global set-up, thread safe since 7.84 and done once here.
    private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Returns nil when memory is short.
    init?() {
        guard Self.isInitialised, let pointer = curl_multi_init() else { return nil }
        self.pointer = pointer
    }

    func wakeUp() {
        curl_multi_wakeup(pointer)
    }

    func close() {
        curl_multi_cleanup(pointer)
    }
}
