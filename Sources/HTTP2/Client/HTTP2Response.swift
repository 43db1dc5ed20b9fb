/// The parts of a response that a push gateway's answer consists of.
public struct HTTP2Response: Sendable {
    /// The `:status`, 100…599.
    public var status: Int16
    /// The `retry-after` field as it came: seconds or an HTTP date.
    public var retryAfter: String?
    /// The body, at most 64 KiB of it; empty for an accepted APNs request.
    public var body: [UInt8]
    /// Whether it carries the first of the header fields that only this request had, with the request's value: APNs gives every
    /// `apns-id` back, which nothing in its place would do.
    public var echoesRequest: Bool

    public init(status: Int16, retryAfter: String? = nil, body: [UInt8] = [], echoesRequest: Bool = false) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
        self.echoesRequest = echoesRequest
    }
}
