/// One header field of an HTTP/2 request or response.
public struct HTTP2HeaderField: Sendable, Hashable {
    /// How HPACK (RFC 7541) may keep the field in its dynamic table.
    public enum Indexing: Sendable, Hashable {
        /// The field repeats from request to request: send it once, refer to it afterwards.
        case incremental
        /// The field differs from request to request or is a secret: it never enters a table.
        case never
    }

    /// The lower-case name; pseudo-header fields begin with a colon.
    public var name: String
    public var value: String
    public var indexing: Indexing

    public init(_ name: String, _ value: String, indexing: Indexing = .incremental) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }
}
