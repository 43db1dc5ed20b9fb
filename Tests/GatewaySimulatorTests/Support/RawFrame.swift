/// One HTTP/2 frame as it came (RFC 9113 section 4.1).
struct RawFrame: Sendable {
    static let settings: UInt8 = 4
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7

    var type: UInt8
    var flags: UInt8
    var streamID: UInt32
    var payload: [UInt8]

    /// The values of a SETTINGS frame, by identifier.
    var settings: [Int: UInt32] {
        var values: [Int: UInt32] = [:]
        for start in stride(from: 0, to: payload.count - 5, by: 6) {
            let number = Int(payload[start]) << 8 | Int(payload[start + 1])
            values[number] = payload[(start + 2)..<(start + 6)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        return values
    }

    /// The stream limit that a SETTINGS frame announces (SETTINGS_MAX_CONCURRENT_STREAMS); nil when it announces none.
    var streamLimit: UInt32? { type == Self.settings ? settings[3] : nil }

    /// Takes the first complete frame out of a buffer.
    static func take(from bytes: inout [UInt8]) -> RawFrame? {
        guard bytes.count >= 9 else { return nil }
        let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        guard bytes.count >= 9 + length else { return nil }
        let frame = RawFrame(
            type: bytes[3],
            flags: bytes[4],
            streamID: bytes[5..<9].reduce(0) { $0 << 8 | UInt32($1) },
            payload: Array(bytes[9..<(9 + length)])
        )
        bytes.removeFirst(9 + length)
        return frame
    }

    /// The frame's bytes.
    var bytes: [UInt8] {
        let length = payload.count
        var bytes = [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags]
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(streamID >> UInt32(shift) & 255)) }
        return bytes + payload
    }
}
