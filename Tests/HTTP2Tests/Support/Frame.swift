/// HTTP/2 frames as bytes (RFC 9113 section 4.1), for peers that do what no library allows.
struct Frame {
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case priority = 2
        case reset = 3
        case settings = 4
        case pushPromise = 5
        case ping = 6
        case goAway = 7
        case windowUpdate = 8
        case continuation = 9
    }

    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4

    /// The client's preface (RFC 9113 section 3.4), without its SETTINGS.
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    var kind: Kind
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let length = UInt32(payload.count)
        return [UInt8(length >> 16 & 0xff), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), kind.rawValue, flags]
            + Self.word(stream) + payload
    }

    static func word(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xff), UInt8(value >> 8 & 0xff), UInt8(value & 0xff)]
    }

    static func settings(_ values: [(id: UInt16, value: UInt32)] = []) -> [UInt8] {
        let payload = values.flatMap { [UInt8($0.id >> 8), UInt8($0.id & 0xff)] + word($0.value) }
        return Frame(kind: .settings, payload: payload).bytes
    }

    static let maxConcurrentStreams: UInt16 = 0x3
    static let initialWindowSize: UInt16 = 0x4

    static let settingsAcknowledgement = Frame(kind: .settings, flags: acknowledgement).bytes

    static func reset(_ stream: UInt32, _ code: UInt32) -> [UInt8] {
        Frame(kind: .reset, stream: stream, payload: word(code)).bytes
    }

    static func goAway(_ last: UInt32, _ code: UInt32, _ debugData: String = "") -> [UInt8] {
        Frame(kind: .goAway, payload: word(last) + word(code) + Array(debugData.utf8)).bytes
    }

    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
        Frame(kind: .windowUpdate, stream: stream, payload: word(increment)).bytes
    }

    /// `:status: 200` is entry 8 of HPACK's static table (RFC 7541 appendix A).
    static func status200(_ stream: UInt32, endStream: Bool = true) -> [UInt8] {
        Frame(kind: .headers, flags: endHeaders | (endStream ? Self.endStream : 0), stream: stream, payload: [0x88])
            .bytes
    }

    /// Another status, as a literal whose name is entry 8.
    static func status(_ status: Int, _ stream: UInt32, endStream: Bool = true) -> [UInt8] {
        let field: [UInt8] = [0x08, 0x03] + Array(String(status).utf8)
        return Frame(
            kind: .headers,
            flags: endHeaders | (endStream ? Self.endStream : 0),
            stream: stream,
            payload: field
        ).bytes
    }

    /// Splits bytes into frames; an incomplete one at the end is ignored.
    static func parse(_ bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var position = bytes.starts(with: preface) ? preface.count : 0
        while position + 9 <= bytes.count {
            let length = Int(bytes[position]) << 16 | Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
            guard position + 9 + length <= bytes.count else { break }
            let stream = bytes[position + 5..<position + 9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            if let kind = Kind(rawValue: bytes[position + 3]) {
                let payload = Array(bytes[position + 9..<position + 9 + length])
                frames.append(Frame(kind: kind, flags: bytes[position + 4], stream: stream, payload: payload))
            }
            position += 9 + length
        }
        return frames
    }
}
