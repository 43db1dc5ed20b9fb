/// The parts of a push gateway's response.
package struct HTTP2Response: Sendable {
    /// The `:status`, 100…599.
    package var status: Int16
    /// The `retry-after` field as received: seconds or an HTTP date.
    package var retryAfter: String? = nil
    /// The body, truncated to 64 KiB; empty for an accepted APNs request.
    package var body: [UInt8] = []
    /// Whether the response echoes the first of the request's own header fields with its value. APNs echoes every
    /// `apns-id`, which another server in its place would not do.
    package var echoesRequest: Bool = false
    /// The other header fields, if they were to be kept (``HTTP2RequestBatch/keepAnswerFields(of:)``); else nil.
    package var otherFields: [HTTP2HeaderField]? = nil
}
