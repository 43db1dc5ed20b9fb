/// A complete request.
package struct HTTP2ServerRequest: Sendable {
    package var streamID: Int32
    package var headers: HTTP2HeaderBlock
    /// The body, truncated to the settings' `maxBodySize` bytes; ``bodyLength`` is its full length.
    package var body: [UInt8]
    /// The full length of the body.
    package var bodyLength: Int

    package init(streamID: Int32, headers: HTTP2HeaderBlock, body: [UInt8], bodyLength: Int) {
        self.streamID = streamID
        self.headers = headers
        self.body = body
        self.bodyLength = bodyLength
    }
}
