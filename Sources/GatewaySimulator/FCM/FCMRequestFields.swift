import HTTP2

/// Where the header fields of one `messages:send` request stand.
struct FCMRequestFields {
    var method = BytePlace.absent
    var path = BytePlace.absent
    var authorization = BytePlace.absent

    /// Finds the fields of a block.
    @inline(__always)
    init(_ headers: HTTP2HeaderBlock, _ bytes: [UInt8]) {
        for index in 0..<headers.count {
            let name = headers.nameRange(index)
            switch name.count {
            case 5 where Bytes.equal(bytes, name, ":path"): path = BytePlace(headers.valueRange(index))
            case 7 where Bytes.equal(bytes, name, ":method"): method = BytePlace(headers.valueRange(index))
            case 13 where Bytes.equal(bytes, name, "authorization"):
                authorization = BytePlace(headers.valueRange(index))
            default: break
            }
        }
    }
}
