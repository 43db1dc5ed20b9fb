import NIOCore

/// The nine bytes before a frame's payload (RFC 9113, section 4.1).
struct FrameHeader {
    enum Kind: UInt8 {
        case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation
    }

    static let length = 9
    /// The maximum payload of a frame, in bytes. Every peer must accept it (RFC 9113, section 6.5.2), and we accept no
    /// more. Header blocks rarely have a fiftieth of it.
    static let maxPayloadSize = 16_384
    static let endsStream: UInt8 = 0x1
    static let acknowledges: UInt8 = 0x1
    static let endsHeaders: UInt8 = 0x4
    static let isPadded: UInt8 = 0x8
    static let hasPriority: UInt8 = 0x20

    /// Nil for an unknown kind, which is ignored.
    let kind: Kind?
    let flags: UInt8
    let streamID: Int32

    init(_ kind: Kind, flags: UInt8, _ streamID: Int32) {
        self.kind = kind
        self.flags = flags
        self.streamID = streamID
    }

    /// Reads nine bytes.
    @inline(__always)
    fileprivate init(_ bytes: UnsafeRawPointer) {
        kind = Kind(rawValue: bytes.load(fromByteOffset: 3, as: UInt8.self))
        flags = bytes.load(fromByteOffset: 4, as: UInt8.self)
        streamID = Int32(
            bitPattern: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 5, as: UInt32.self)) & 0x7FFF_FFFF
        )
    }

    /// The length of the payload after these nine bytes.
    @inline(__always)
    fileprivate static func payloadLength(_ bytes: UnsafeRawPointer) -> Int {
        Int(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)) >> 8)
    }

    /// A payload without its padding.
    func withoutPadding(_ payload: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        guard flags & Self.isPadded != 0 else { return payload }
        guard let padding = payload.first, Int(padding) < payload.count else {
            throw ConnectionError(.protocolError, "more padding than payload")
        }
        return UnsafeRawBufferPointer(rebasing: payload[1..<payload.count - Int(padding)])
    }

    /// Writes the header for a payload of this many bytes.
    @inline(__always)
    private func write(_ count: Int, to space: UnsafeMutableRawPointer) {
        space.storeBytes(of: (UInt32(count) << 8 | UInt32(kind?.rawValue ?? 0)).bigEndian, as: UInt32.self)
        space.storeBytes(of: flags, toByteOffset: 4, as: UInt8.self)
        space.storeBytes(of: UInt32(bitPattern: streamID).bigEndian, toByteOffset: 5, as: UInt32.self)
    }

    func write(_ payload: UnsafeRawBufferPointer, to buffer: inout ByteBuffer) {
        let count = payload.count
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.length + count) { space in
            guard let start = space.baseAddress else { return 0 }
            write(count, to: start)
            if let source = payload.baseAddress { (start + Self.length).copyMemory(from: source, byteCount: count) }
            return Self.length + count
        }
    }

    /// Divides a header block at the end of the buffer into frames. Room for a frame header must precede it.
    static func divide(_ buffer: inout ByteBuffer, from start: Int, flags: UInt8, streamID: Int32) {
        let count = buffer.writerIndex - start - length
        guard count > maxPayloadSize else {
            FrameHeader(.headers, flags: flags | endsHeaders, streamID).set(count, in: &buffer, at: start)
            return
        }
        let block = buffer.getBytes(at: start + length, length: count) ?? []
        buffer.moveWriterIndex(to: start)
        for first in stride(from: 0, to: count, by: maxPayloadSize) {
            let piece = block[first..<min(first + maxPayloadSize, count)]
            let at = buffer.writerIndex
            buffer.writeRepeatingByte(0, count: length)
            buffer.writeBytes(piece)
            let own = first == 0 ? flags : 0
            let last = piece.endIndex == count ? endsHeaders : 0
            FrameHeader(first == 0 ? .headers : .continuation, flags: own | last, streamID)
                .set(piece.count, in: &buffer, at: at)
        }
    }

    private func set(_ count: Int, in buffer: inout ByteBuffer, at start: Int) {
        buffer.setInteger(UInt32(count) << 8 | UInt32(kind?.rawValue ?? 0), at: start)
        buffer.setInteger(flags, at: start + 4)
        buffer.setInteger(UInt32(bitPattern: streamID), at: start + 5)
    }
}

/// Finds the frames in a peer's bytes, which arrive in pieces of any length.
struct FrameReader {
    /// The first bytes of a client (RFC 9113, section 3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The beginning of an incomplete frame.
    private var partial: [UInt8] = []
    /// The number of preface bytes still to come.
    private var preface: Int

    init(preface: Int) { self.preface = preface }

    /// Passes each complete frame to `handle` until that returns false. The payload is valid during the call. An
    /// incomplete frame is kept.
    ///
    /// - Throws: ``ConnectionError`` for a frame that is too large, and any error of `handle`.
    mutating func read(
        _ bytes: UnsafeRawBufferPointer,
        _ handle: (FrameHeader, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var rest = bytes
        if !partial.isEmpty, try !readInPieces(&rest, handle) { return }
        while rest.count >= FrameHeader.length, let start = rest.baseAddress {
            let length = try Self.length(start)
            let end = FrameHeader.length + length
            guard rest.count >= end else { break }
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
            let payload = UnsafeRawBufferPointer(start: start + FrameHeader.length, count: length)
            guard try handle(FrameHeader(start), payload) else { return }
        }
        partial.append(contentsOf: rest)
    }

    /// Completes the partial frame.
    /// - Returns: whether more may be read.
    private mutating func readInPieces(
        _ rest: inout UnsafeRawBufferPointer,
        _ handle: (FrameHeader, UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        fill(FrameHeader.length, &rest)
        guard partial.count >= FrameHeader.length else { return true }
        let length = try partial.withUnsafeBytes { try $0.baseAddress.map(Self.length) ?? 0 }
        fill(FrameHeader.length + length, &rest)
        guard partial.count == FrameHeader.length + length else { return true }
        defer { partial.removeAll(keepingCapacity: true) }
        return try partial.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return try handle(FrameHeader(start), UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.length...]))
        }
    }

    private mutating func fill(_ count: Int, _ rest: inout UnsafeRawBufferPointer) {
        guard partial.count < count else { return }
        let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(count - partial.count))
        partial.append(contentsOf: piece)
        rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
    }

    /// Skips a client's preface and returns the rest.
    mutating func skipPreface(_ bytes: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        guard preface > 0 else { return bytes }
        let count = min(preface, bytes.count)
        guard bytes.prefix(count).elementsEqual(Self.preface.suffix(preface).prefix(count)) else {
            throw ConnectionError(.protocolError, "the client does not speak HTTP/2")
        }
        preface -= count
        return UnsafeRawBufferPointer(rebasing: bytes[count...])
    }

    private static func length(_ start: UnsafeRawPointer) throws -> Int {
        let length = FrameHeader.payloadLength(start)
        guard length <= FrameHeader.maxPayloadSize else {
            throw ConnectionError(.frameSizeError, "a frame is too large")
        }
        return length
    }
}
