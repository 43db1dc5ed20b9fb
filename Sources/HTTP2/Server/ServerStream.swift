/// What a server connection remembers of one open stream.
struct ServerStream {
    var headers = HTTP2HeaderBlock()
    var body: [UInt8] = []
    var bodyLength = 0
    /// Keeps a response's fields alive until the stream is closed, as nghttp2 reads them in place.
    var response: HTTP2PreparedResponse?
    /// The response's body behind its header, as in ``HTTP2RequestBatch``; freed when the stream is closed.
    var responseBody: UnsafeMutableRawPointer?
}
