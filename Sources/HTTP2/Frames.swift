import CNGHTTP2
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The nine bytes before a frame's payload (RFC 9113, section 4.1).
struct FrameHeader {
    enum Kind: UInt8 {
        case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation
    }

    static let length = 9
    /// Nobody takes less in one frame (RFC 9113, section 6.5.2), and neither do we; header blocks seldom have a fiftieth of it.
    static let largestPayload = 16_384
    static let endsStream: UInt8 = 0x1
    static let acknowledges: UInt8 = 0x1
    static let endsHeaders: UInt8 = 0x4
    static let isPadded: UInt8 = 0x8
    static let hasPriority: UInt8 = 0x20

    /// Nil for one that a later version of the protocol may know.
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

    /// The length of the payload behind nine bytes.
    @inline(__always)
    fileprivate static func payloadLength(_ bytes: UnsafeRawPointer) -> Int {
        Int(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)) >> 8)
    }

    /// A payload without what only hides its length.
    func withoutPadding(_ payload: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        guard flags & Self.isPadded != 0 else { return payload }
        guard let padding = payload.first, Int(padding) < payload.count else {
            throw ConnectionError(.protocolError, "more padding than payload")
        }
        return UnsafeRawBufferPointer(rebasing: payload[1..<payload.count - Int(padding)])
    }

    /// Writes the header for a payload of so many bytes.
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

    /// Makes frames of a header block that ends the buffer and has room for a frame's header before it.
    static func divide(_ buffer: inout ByteBuffer, from start: Int, flags: UInt8, streamID: Int32) {
        let count = buffer.writerIndex - start - length
        guard count > largestPayload else {
            FrameHeader(.headers, flags: flags | endsHeaders, streamID).set(count, in: &buffer, at: start)
            return
        }
        let block = buffer.getBytes(at: start + length, length: count) ?? []
        buffer.moveWriterIndex(to: start)
        for first in stride(from: 0, to: count, by: largestPayload) {
            let piece = block[first..<min(first + largestPayload, count)]
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

/// The settings that matter here (RFC 9113, section 6.5.2).
enum Setting {
    static let headerTableSize: UInt16 = 1
    static let enablePush: UInt16 = 2
    static let maxConcurrentStreams: UInt16 = 3
    static let initialWindowSize: UInt16 = 4
    static let maxFrameSize: UInt16 = 5
    static let maxHeaderListSize: UInt16 = 6
}

/// What a peer does that ends the connection (RFC 9113, section 5.4.1).
struct ConnectionError: Error, CustomStringConvertible {
    let code: HTTP2ErrorCode
    let reason: String

    init(_ code: HTTP2ErrorCode, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    var description: String { "\(code), \(reason)" }
}

/// Finds the frames in what a peer sends, in pieces of any length.
struct FrameReader {
    /// What a client says first (RFC 9113, section 3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The beginning of a frame whose rest has not come.
    private var partial: [UInt8] = []
    /// Bytes of the preface that are still to come.
    private var preface: Int

    init(preface: Int) { self.preface = preface }

    /// Hands over each whole frame until that says no; its payload holds meanwhile. What is left at the end is kept.
    ///
    /// - Throws: ``ConnectionError`` for a frame that is too large, and what `handle` throws.
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

    /// Makes the frame whole that has begun to come.
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

    /// What follows a client's preface.
    mutating func skipPreface(_ bytes: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        guard preface > 0 else { return bytes }
        let count = min(preface, bytes.count)
        guard bytes.prefix(count).elementsEqual(Self.preface.suffix(preface).prefix(count)) else {
            throw ConnectionError(.protocolError, "no HTTP/2")
        }
        preface -= count
        return UnsafeRawBufferPointer(rebasing: bytes[count...])
    }

    private static func length(_ start: UnsafeRawPointer) throws -> Int {
        let length = FrameHeader.payloadLength(start)
        guard length <= FrameHeader.largestPayload else {
            throw ConnectionError(.frameSizeError, "a frame is too large")
        }
        return length
    }
}

/// Reads the header blocks of one side of a connection (HPACK, RFC 7541): nghttp2's reader, which keeps the table of what was sent before.
final class HeaderReader {
    private var inflater: OpaquePointer?

    init() throws {
        guard nghttp2_hd_inflate_new(&inflater) == 0 else { throw ConnectionError(.internalError, "no memory") }
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// Bounds the table, in bytes, as the sender knows by now.
    func limitTable(_ bytes: UInt32) { nghttp2_hd_inflate_change_table_size(inflater, Int(bytes)) }

    /// Hands over the fields of a block, in their order; name and value hold until the next.
    ///
    /// - Throws: ``ConnectionError`` for a block that cannot be read: the table is lost with it, so that no later one can be.
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
            guard count >= 0 else { throw ConnectionError(.compressionError, "a header block cannot be read") }
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

/// What the fields of a message must be like (RFC 9113, section 8.2 and 8.3), field by field.
struct FieldCheck {
    /// Whether the message is malformed, which ends its stream.
    private(set) var isMalformed = false
    /// What was malformed about it first.
    private(set) var fault: StaticString = ""
    /// `content-length`; nil if there is none.
    private(set) var length: Int?
    /// The pseudo-header fields that came, a bit each.
    private(set) var pseudo: UInt8 = 0
    private var hasRegular = false
    private let isRequest: Bool
    private let isTrailer: Bool

    static let status: UInt8 = 1
    static let method: UInt8 = 2
    static let scheme: UInt8 = 4
    static let path: UInt8 = 8
    static let authority: UInt8 = 16
    static let host: UInt8 = 32

    init(isRequest: Bool, isTrailer: Bool) {
        self.isRequest = isRequest
        self.isTrailer = isTrailer
    }

    /// Looks at a field.
    /// - Returns: whether it counts: one with characters that no field has is left out, as nghttp2 does.
    mutating func take(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = name.first, let start = name.baseAddress else {
            note("a field without a name")
            return false
        }
        if first == UInt8(ascii: ":") {
            takePseudo(name, value)
            return !isMalformed
        }
        hasRegular = true
        guard nghttp2_check_header_name(start, name.count) != 0 else {
            // A capital letter makes the message malformed; anything else in its place only the field.
            if name.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) {
                note("a field's name in capitals")
            }
            return false
        }
        guard value.isEmpty || nghttp2_check_header_value(value.baseAddress, value.count) != 0 else { return false }
        switch name.count {
        case 2 where isName(name, "te"): if !isName(value, "trailers") { note("te that is not trailers") }
        case 4 where isName(name, "host"): pseudo |= Self.host
        case 7 where isName(name, "upgrade"), 10 where isName(name, "connection") || isName(name, "keep-alive"),
            16 where isName(name, "proxy-connection"), 17 where isName(name, "transfer-encoding"):
            note("a field that only HTTP/1.1 connections have")
        case 14 where isName(name, "content-length"): takeLength(value)
        default: break
        }
        return !isMalformed
    }

    /// Notes what makes the message malformed.
    private mutating func note(_ what: StaticString) {
        if !isMalformed { fault = what }
        isMalformed = true
    }

    private mutating func takePseudo(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        let bit: UInt8
        switch name.count {
        case 5 where isName(name, ":path"): bit = Self.path
        case 7 where isName(name, ":status"): bit = Self.status
        case 7 where isName(name, ":method"): bit = Self.method
        case 7 where isName(name, ":scheme"): bit = Self.scheme
        case 10 where isName(name, ":authority"): bit = Self.authority
        default: bit = 0
        }
        let isSound = nghttp2_check_header_value(value.baseAddress, value.count) != 0
        if bit == 0 || hasRegular || isTrailer || pseudo & bit != 0 || isRequest == (bit == Self.status) || !isSound {
            note("an unknown or misplaced pseudo-header field")
        }
        if bit != Self.authority, value.isEmpty { note("an empty pseudo-header field") }
        if bit == Self.path, let first = value.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "*") {
            note("an invalid path")
        }
        pseudo |= bit
        if bit == Self.status {
            let digits = value.count == 3 && value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            // 101 is HTTP/1's (RFC 9113, section 8.6).
            if !digits || value[0] == UInt8(ascii: "0") || value.elementsEqual("101".utf8) {
                note("an invalid status")
            }
        }
    }

    private mutating func takeLength(_ value: UnsafeBufferPointer<UInt8>) {
        guard length == nil, !value.isEmpty, let number = Int(String(decoding: value, as: UTF8.self)), number >= 0,
            value[0] != UInt8(ascii: "+")
        else { return note("an invalid or second content-length") }
        length = number
    }

    /// Looks at what there is, when all of it has come.
    mutating func end() {
        guard !isTrailer else { return }
        if isRequest {
            let needed = Self.method | Self.scheme | Self.path
            if pseudo & needed != needed || pseudo & (Self.authority | Self.host) == 0 {
                note("a request without method, scheme, path or authority")
            }
        } else if pseudo & Self.status == 0 {
            note("an answer without a status")
        }
    }

    private func isName(_ text: UnsafeBufferPointer<UInt8>, _ word: StaticString) -> Bool {
        guard text.count == word.utf8CodeUnitCount, let start = text.baseAddress else { return false }
        return memcmp(start, word.utf8Start, text.count) == 0
    }
}
