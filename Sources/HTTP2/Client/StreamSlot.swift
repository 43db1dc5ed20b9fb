/// What a connection remembers of one open stream.
struct StreamSlot {
    var requestIndex: Int32 = 0
    var batch: HTTP2RequestBatch?
    /// When the request was handed to nghttp2, in nanoseconds of the event loop's clock.
    var submitted: UInt64 = 0
    var status: Int16 = 0
    /// The request's HEADERS frame has been serialised: from now on the server may have seen it.
    var isWritten = false
    /// The response is complete, whatever happens to the stream afterwards.
    var isAnswered = false
    /// The request was given up and settled; the slot keeps its batch's memory until nghttp2 has closed the stream.
    var isCancelled = false
    var retryAfter: String?
    /// See ``HTTP2Response/echoesRequest``.
    var echoesRequest = false
    var body: [UInt8] = []

    /// The response, once it is complete.
    var response: HTTP2Response {
        HTTP2Response(status: status, retryAfter: retryAfter, body: body, echoesRequest: echoesRequest)
    }
}
