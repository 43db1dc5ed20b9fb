/// Hits that are stored together, and their position in their source.
package struct TrackingSpoolRecord: Sendable, Hashable {
    /// Increases with each record of a source. The database ignores a record whose position it has reached.
    package var position: Int64
    package var hits: [TrackingHit]

    package init(position: Int64, hits: [TrackingHit]) {
        self.position = position
        self.hits = hits
    }

    /// The bytes of the record with its frame.
    package var bytes: [UInt8] {
        var payload: [UInt8] = []
        payload.reserveCapacity(hits.count * 160)
        TrackingSpoolWriter.append(position, to: &payload)
        TrackingSpoolWriter.append(UInt32(clamping: hits.count), to: &payload)
        for hit in hits { TrackingSpoolWriter.append(hit, to: &payload) }
        var output: [UInt8] = []
        output.reserveCapacity(payload.count + TrackingSpoolFormat.frameLength)
        TrackingSpoolWriter.append(UInt32(clamping: payload.count), to: &output)
        TrackingSpoolWriter.append(CRC32C.checksum(payload, 0..<payload.count), to: &output)
        output += payload
        return output
    }
}
