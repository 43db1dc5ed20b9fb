import HTTP2

/// The positions of the header fields of one push, found in one pass over the block.
struct APNsRequestFields {
    var method = BytePlace.absent
    var path = BytePlace.absent
    var authorization = BytePlace.absent
    var topic = BytePlace.absent
    var pushType = BytePlace.absent
    var id = BytePlace.absent
    var expiration = BytePlace.absent
    var priority = BytePlace.absent
    var collapseID = BytePlace.absent
    /// Whether one of these fields occurs more than once.
    var hasDuplicate = false

    /// Finds the fields of a block; unknown ones are ignored, as APNs does.
    @inline(__always)
    init(_ headers: HTTP2HeaderBlock, _ bytes: [UInt8]) {
        for index in 0..<headers.count {
            let name = headers.nameRange(index)
            let value = BytePlace(headers.valueRange(index))
            switch name.count {
            case 5 where Bytes.equal(bytes, name, ":path"): Self.set(&path, value, &hasDuplicate)
            case 7 where Bytes.equal(bytes, name, ":method"): Self.set(&method, value, &hasDuplicate)
            case 7 where Bytes.equal(bytes, name, "apns-id"): Self.set(&id, value, &hasDuplicate)
            case 10 where Bytes.equal(bytes, name, "apns-topic"): Self.set(&topic, value, &hasDuplicate)
            case 13 where Bytes.equal(bytes, name, "authorization"): Self.set(&authorization, value, &hasDuplicate)
            case 13 where Bytes.equal(bytes, name, "apns-priority"): Self.set(&priority, value, &hasDuplicate)
            case 14 where Bytes.equal(bytes, name, "apns-push-type"): Self.set(&pushType, value, &hasDuplicate)
            case 15 where Bytes.equal(bytes, name, "apns-expiration"): Self.set(&expiration, value, &hasDuplicate)
            case 16 where Bytes.equal(bytes, name, "apns-collapse-id"): Self.set(&collapseID, value, &hasDuplicate)
            default: break
            }
        }
    }

    @inline(__always)
    private static func set(_ place: inout BytePlace, _ value: BytePlace, _ hasDuplicate: inout Bool) {
        if !place.isAbsent { hasDuplicate = true }
        place = value
    }
}
