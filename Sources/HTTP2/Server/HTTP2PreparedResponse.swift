import Synchronization

/// A response head that is sent repeatedly, with at most one varying field.
package final class HTTP2PreparedResponse: Sendable {
    private static let lastNumber = Atomic<UInt64>(0)
    /// A number that is unique in the process.
    let number = HTTP2PreparedResponse.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    let fields: [HTTP2HeaderField]
    /// The beginning of the varying field, up to its value: a never-indexed literal (RFC 7541, section 6.2.3); nil for
    /// none.
    let varyingName: [UInt8]?

    /// - Parameters:
    ///   - headers: the constant fields.
    ///   - varyingHeader: the name of a field whose value is passed with each response; it is never indexed.
    package init(status: Int, headers: [(String, String)], varyingHeader: String? = nil) {
        fields = ([(":status", String(status))] + headers).map { HTTP2HeaderField($0.0, $0.1) }
        varyingName = varyingHeader.map { name in
            var field: [UInt8] = [0x10]
            HeaderBlockWriter.append(Array(name.utf8), to: &field)
            return field
        }
    }
}
