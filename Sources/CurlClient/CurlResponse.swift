package struct CurlResponse: Sendable {
    /// The HTTP status, 200 to 599. A redirect is returned, not followed.
    package var status: Int
    /// The header fields of the final response, in order.
    package var headers: [CurlHeader] = []
    package var body: [UInt8] = []

    /// Returns the first value of a field; names are case-insensitive.
    package func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
