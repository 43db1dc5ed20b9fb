import CNGHTTP2

/// A response head that is sent again and again, with at most one field whose value varies.
public final class HTTP2PreparedResponse: @unchecked Sendable {
    // Unchecked: the memory that the fields point to is written once, here, and only read afterwards.

    let fields: [nghttp2_nv]
    let hasVaryingHeader: Bool
    private let arena: UnsafeMutablePointer<UInt8>

    /// - Parameters:
    ///   - varyingHeader: the name of a field whose value is given with each response; it is never indexed.
    public init(status: Int, headers: [(String, String)], varyingHeader: String? = nil) {
        var texts: [(String, String)] = [(":status", String(status))] + headers
        if let varyingHeader { texts.append((varyingHeader, "")) }
        let size = texts.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count }
        let arena = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, size))
        var used = 0
        func store(_ text: String) -> UnsafeMutablePointer<UInt8> {
            let start = arena + used
            for byte in text.utf8 {
                arena[used] = byte
                used += 1
            }
            return start
        }
        let noCopyName = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
        let noCopyValue = UInt8(NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
        var fields = texts.map { name, value in
            nghttp2_nv(
                name: store(name),
                value: store(value),
                namelen: name.utf8.count,
                valuelen: value.utf8.count,
                flags: noCopyName | noCopyValue
            )
        }
        if varyingHeader != nil {
            fields[fields.count - 1].flags = noCopyName | UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
        }
        self.fields = fields
        self.arena = arena
        hasVaryingHeader = varyingHeader != nil
    }

    deinit {
        arena.deallocate()
    }
}
