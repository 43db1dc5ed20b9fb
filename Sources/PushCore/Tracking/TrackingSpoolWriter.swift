/// Writes the values of a tracking spool.
enum TrackingSpoolWriter {
    static func append(_ hit: TrackingHit, to output: inout [UInt8]) {
        switch hit.id.message {
        case .uuid(let uuid):
            output.append(TrackingSpoolFormat.uuid)
            append(uuid.high, to: &output)
            append(uuid.low, to: &output)
        case .number(let number):
            output.append(TrackingSpoolFormat.number)
            append(number, to: &output)
        }
        output.append(UInt8(truncatingIfNeeded: hit.id.kind.rawValue))
        output.append(UInt8(clamping: hit.id.deliveries.count))
        for delivery in hit.id.deliveries.prefix(Int(UInt8.max)) { append(delivery, to: &output) }
        append(hit.microseconds, to: &output)
        append(hit.address?.description ?? "", to: &output)
        append(hit.userAgent, to: &output)
    }

    static func append<Number: FixedWidthInteger>(_ number: Number, to output: inout [UInt8]) {
        var rest = UInt64(truncatingIfNeeded: number)
        for _ in 0..<MemoryLayout<Number>.size {
            output.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    private static func append(_ text: String, to output: inout [UInt8]) {
        let bytes = text.utf8.prefix(Int(UInt16.max))
        append(UInt16(clamping: bytes.count), to: &output)
        output.append(contentsOf: bytes)
    }
}
