/// A complete request, as a server received it.
public struct HTTP2ServerRequest: Sendable {
    public var streamID: Int32
    public var headers: HTTP2HeaderBlock
    /// The body, at most the settings' `largestBody` bytes of it; ``bodyLength`` says how long it was.
    public var body: [UInt8]
    /// The length of the body as it was sent.
    public var bodyLength: Int

    public init(streamID: Int32, headers: HTTP2HeaderBlock, body: [UInt8], bodyLength: Int) {
        self.streamID = streamID
        self.headers = headers
        self.body = body
        self.bodyLength = bodyLength
    }
}
