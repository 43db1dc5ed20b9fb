/// What a server answered.
public struct CurlResponse: Sendable {
    /// The HTTP status, 200 to 599. A redirect is returned, not followed.
    public var status: Int
    /// The header fields of the final answer in their order.
    public var headers: [CurlHeader]
    /// The body.
    public var body: [UInt8]

    /// Makes an answer.
    public init(status: Int, headers: [CurlHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the first value of a field; names are compared without regard to case.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
