/// One header field of an HTTP/2 request or response.
package struct HTTP2HeaderField: Sendable, Hashable {
    /// What a connection sends once and then refers to (HPACK, RFC 7541).
    package enum Indexing: Sendable, Hashable {
        /// Name and value, because they repeat in each request.
        case value
        /// Only the name, because its varying values would evict each other from the table.
        case name
    }

    /// The lower-case name; pseudo-header fields begin with a colon.
    package var name: String
    package var value: String
    package var indexing: Indexing

    /// Whether it is a pseudo-header field (RFC 7540, section 8.1.2.1).
    var isPseudo: Bool { name.utf8.first == UInt8(ascii: ":") }

    package init(_ name: String, _ value: String, indexing: Indexing = .value) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }
}
