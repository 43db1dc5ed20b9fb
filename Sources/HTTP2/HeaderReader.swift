import CNGHTTP2

/// Decodes the header blocks of one side of a connection (HPACK, RFC 7541), with nghttp2's decoder and its table.
final class HeaderReader {
    private var inflater: OpaquePointer?

    init() throws {
        guard nghttp2_hd_inflate_new(&inflater) == 0 else { throw ConnectionError(.internalError, "no memory") }
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// Limits the table, in bytes, once the peer has acknowledged the setting.
    func limitTable(_ bytes: UInt32) { nghttp2_hd_inflate_change_table_size(inflater, Int(bytes)) }

    /// Passes the fields of a block to `field`, in order. Name and value are valid during the call.
    ///
    /// - Throws: ``ConnectionError`` for a block that cannot be decoded. The table is then lost, so later blocks cannot
    ///   be decoded either.
    @inline(__always)
    func read(
        _ block: UnsafeRawBufferPointer,
        _ field: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Void
    ) throws {
        let bytes = block.bindMemory(to: UInt8.self)
        var place = 0
        while true {
            var found = nghttp2_nv()
            var flags: Int32 = 0
            let count = nghttp2_hd_inflate_hd2(
                inflater,
                &found,
                &flags,
                bytes.baseAddress.map { $0 + place },
                bytes.count - place,
                1
            )
            guard count >= 0 else { throw ConnectionError(.compressionError, "a header block cannot be decoded") }
            place += count
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                field(
                    UnsafeBufferPointer(start: found.name, count: found.namelen),
                    UnsafeBufferPointer(start: found.value, count: found.valuelen)
                )
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                nghttp2_hd_inflate_end_headers(inflater)
                return
            }
        }
    }
}
