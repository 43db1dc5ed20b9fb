import NIOCore

/// The frame layer that both ends of an HTTP/2 connection share (RFC 9113). It parses incoming bytes into frames and
/// buffers what is to be sent until it is written. It does no I/O and is confined to one event loop.
///
/// The subclasses ``ClientSession`` and ``ServerSession`` keep the streams and requests, and override the methods that
/// handle a frame.
class FrameSession {
    /// Frames that precede all others: settings, acknowledgements, resets, window updates, GOAWAY.
    private var control = ByteBuffer()
    private var reader: FrameReader
    let fields: HeaderReader
    /// A header block whose CONTINUATION frames are still to come.
    private var unfinished: (streamID: Int32, flags: UInt8, block: [UInt8], pieces: Int)?
    private var hasSettings = false
    /// Our settings that the peer has not acknowledged yet.
    private var unacknowledged: [[(id: UInt16, value: UInt32)]] = []

    /// The connection's send window: bytes of bodies that the peer accepts now, on all streams together.
    private(set) var sendWindow = FrameSession.usualWindow
    private var initialSendWindow = FrameSession.usualWindow
    /// The difference between a stream's send window and the initial one, for streams whose body waits.
    private var streamWindows: [Int32: Int] = [:]
    /// Streams whose bodies wait for a window, in the order in which they began.
    private var waiting: [Int32] = []
    /// Streams whose header block is not written yet.
    private var queue: [Int32] = []
    private var firstOfQueue = 0

    private let receiveWindow: Int
    /// Bytes of bodies received since the last WINDOW_UPDATE of the connection.
    private var received = 0
    /// Why this end terminates the connection, if it does; nothing more is read then.
    private(set) var ownGoAway: String?
    /// The last stream id of our GOAWAY: later streams get no response.
    private(set) var lastAllowed: Int32?
    var goAwayReceived: Int32?
    private var acknowledgements = 0
    /// Streams that we have reset. Frames that the peer sent on them before it knew are late, not a protocol error.
    private var abandoned = AbandonedStreams()

    /// RFC 9113, section 6.9.2.
    static let usualWindow = 65_535
    private static let maxWindow = Int(Int32.max)
    /// The maximum number of acknowledgements that wait to be sent; only an attacker causes more.
    private static let maxAcknowledgements = 1_000
    /// The capacity of `control` that is kept after use, in bytes; a larger one is rare.
    private static let keptControl = 1_024
    /// The maximum size of `control`, in bytes: 20,000 resets. More gathers only if a peer causes responses and does
    /// not read them.
    private static let maxControl = 256 * 1_024
    /// The maximum number of frames in a header block. The largest block has 16 full frames; without a limit, a peer
    /// could send small or empty ones endlessly.
    private static let maxPieces = 64
    /// The maximum size of a header block, in bytes: more than any gateway or sender needs. Decoded by HPACK it can be
    /// far larger.
    private static let maxBlockSize = 256 * 1_024

    /// - Parameter receiveWindow: the connection's receive window, in bytes.
    init(receiveWindow: Int, preface: Int = 0) throws {
        reader = FrameReader(preface: preface)
        fields = try HeaderReader()
        self.receiveWindow = receiveWindow
    }

    // MARK: For the two ends

    /// Whether nothing is left to send or to receive.
    var isFinished: Bool {
        control.readableBytes == 0
            && (ownGoAway != nil || (goAwayReceived != nil || lastAllowed != nil) && isIdle && queue.isEmpty)
    }
    /// Whether no stream is open.
    var isIdle: Bool { true }
    /// The last of the peer's streams that was processed.
    var lastTaken: Int32 { 0 }
    /// A complete header block was received.
    func headersReceived(_ streamID: Int32, ends: Bool, _ block: UnsafeRawBufferPointer) throws {}
    /// A piece of a body was received; `window` is the number of window bytes that it used.
    func dataReceived(_ streamID: Int32, ends: Bool, _ data: UnsafeRawBufferPointer, window: Int) throws {}
    /// The peer reset a stream.
    func resetReceived(_ streamID: Int32, _ code: UInt32) throws {}
    /// A setting of the peer was received.
    func settingReceived(_ id: UInt16, _ value: UInt32) throws {}
    /// All settings of one of the peer's SETTINGS frames are in force.
    func settingsReceived() {}
    /// The peer has acknowledged a setting of ours.
    func settingAcknowledged(_ id: UInt16, _ value: UInt32) {}
    func pingAnswered() {}
    func goAwayReceived(_ code: UInt32, _ last: Int32, _ debugData: UnsafeRawBufferPointer) throws {}
    /// Whether the peer may know a stream. A frame for one that has ended is late; a frame for an unknown one is an
    /// error.
    func hasBegun(_ streamID: Int32) -> Bool { false }
    /// Whether a stream is open and has a body to send.
    func hasBody(_ streamID: Int32) -> Bool { false }
    /// Whether a stream is open.
    func isOpen(_ streamID: Int32) -> Bool { false }
    /// Ends a stream because of the peer's error on it.
    func streamFailed(_ streamID: Int32, _ what: StaticString) {}
    /// Writes the header block of a stream, and as much of its body as fits.
    func writeHead(_ streamID: Int32, to buffer: inout ByteBuffer) -> BodyProgress { .over }
    /// Writes more of a body.
    func writeBody(_ streamID: Int32, to buffer: inout ByteBuffer, limit: Int) -> BodyProgress { .over }

    /// How far the writing of a stream has come.
    enum BodyProgress {
        /// Everything is written, or the stream has ended.
        case over
        /// It waits for a window or for room in the buffer.
        case waits
    }
}

/// Reading.
extension FrameSession {
    /// Takes bytes from the peer. A protocol error ends the connection with a GOAWAY.
    ///
    /// - Throws: ``ConnectionError`` if the peer does not speak HTTP/2 at all.
    final func receive(_ bytes: UnsafeRawBufferPointer) throws {
        guard ownGoAway == nil else { return }
        let frames = try reader.skipPreface(bytes)
        if !hasSettings { try expectNoHTTP1(frames) }
        do {
            try reader.read(frames) { header, payload in
                try take(header, payload)
                return ownGoAway == nil
            }
            guard control.readableBytes <= Self.maxControl else {
                throw ConnectionError(.enhanceYourCalm, "it does not read the responses that it causes")
            }
        } catch let error as ConnectionError {
            terminate(error.code, error.reason)
        }
    }

    /// A server that speaks only HTTP/1.1 answers the preface with an HTTP/1.1 error. Parsed as a frame, that would
    /// have a length of 4 MB.
    private func expectNoHTTP1(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.starts(with: "HTTP/".utf8) else { return }
        let line = bytes.prefix { $0 >= 0x20 && $0 < 0x7F }.prefix(Self.maxLineLength)
        throw ConnectionError(
            .http11Required,
            "it sent “\(String(decoding: line, as: UTF8.self))” instead of HTTP/2's SETTINGS: it speaks only HTTP/1.1"
        )
    }

    /// The maximum length of an HTTP/1.1 status line in a message.
    private static let maxLineLength = 60

    private func take(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        if let streamID = unfinished?.streamID, header.kind != .continuation || header.streamID != streamID {
            throw ConnectionError(.protocolError, "a header block is interrupted")
        }
        guard hasSettings || header.kind == .settings && header.flags & FrameHeader.acknowledges == 0 else {
            throw ConnectionError(.protocolError, "the first frame is not SETTINGS")
        }
        switch header.kind {
        case .data: try takeData(header, payload)
        case .headers: try takeHeaders(header, payload)
        case .continuation: try takeContinuation(header, payload)
        case .priority:
            guard header.streamID != 0 else { throw ConnectionError(.protocolError, "PRIORITY on stream 0") }
            try expect(payload, 5)
        case .reset:
            try expect(payload, 4)
            guard header.streamID != 0, hasBegun(header.streamID) else {
                throw ConnectionError(.protocolError, "RST_STREAM for a stream that was never opened")
            }
            try resetReceived(header.streamID, Self.word(payload, 0))
        case .settings: try takeSettings(header, payload)
        case .pushPromise: throw ConnectionError(.protocolError, "PUSH_PROMISE is not allowed")
        case .ping: try takePing(header, payload)
        case .goAway:
            guard header.streamID == 0 else { throw ConnectionError(.protocolError, "GOAWAY on a stream") }
            guard payload.count >= 8 else { throw ConnectionError(.frameSizeError, "GOAWAY is too short") }
            let last = Int32(bitPattern: Self.word(payload, 0) & 0x7FFF_FFFF)
            guard last <= goAwayReceived ?? .max else {
                throw ConnectionError(.protocolError, "a GOAWAY raises the last stream id of the previous one")
            }
            goAwayReceived = last
            try goAwayReceived(Self.word(payload, 4), last, UnsafeRawBufferPointer(rebasing: payload[8...]))
        case .windowUpdate: try takeWindow(header, payload)
        case nil: break
        }
    }

    private func takeData(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        guard hasBegun(header.streamID) else {
            throw ConnectionError(.protocolError, "DATA on a stream that was never opened")
        }
        received += payload.count
        guard received <= receiveWindow else {
            throw ConnectionError(.flowControlError, "more DATA than the connection's window allows")
        }
        if received >= receiveWindow / 2 {
            giveWindow(0, received)
            received = 0
        }
        try dataReceived(
            header.streamID,
            ends: header.flags & FrameHeader.endsStream != 0,
            header.withoutPadding(payload),
            window: payload.count
        )
    }

    private func takeHeaders(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        guard header.streamID != 0 else { throw ConnectionError(.protocolError, "HEADERS on stream 0") }
        var block = try header.withoutPadding(payload)
        if header.flags & FrameHeader.hasPriority != 0 {
            guard block.count >= 5 else { throw ConnectionError(.frameSizeError, "HEADERS is too short") }
            block = UnsafeRawBufferPointer(rebasing: block[5...])
        }
        guard header.flags & FrameHeader.endsHeaders != 0 else {
            unfinished = (header.streamID, header.flags, [UInt8](block), 1)
            return
        }
        try headersReceived(header.streamID, ends: header.flags & FrameHeader.endsStream != 0, block)
    }

    private func takeContinuation(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        guard unfinished != nil else { throw ConnectionError(.protocolError, "CONTINUATION without HEADERS") }
        unfinished?.block.append(contentsOf: payload)
        unfinished?.pieces += 1
        guard let begun = unfinished, begun.block.count <= Self.maxBlockSize, begun.pieces <= Self.maxPieces else {
            throw ConnectionError(.enhanceYourCalm, "a header block is too large")
        }
        guard header.flags & FrameHeader.endsHeaders != 0, let whole = unfinished else { return }
        unfinished = nil
        try whole.block.withUnsafeBytes {
            try headersReceived(whole.streamID, ends: whole.flags & FrameHeader.endsStream != 0, $0)
        }
    }

    private func takeSettings(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        guard header.streamID == 0 else { throw ConnectionError(.protocolError, "SETTINGS on a stream") }
        guard header.flags & FrameHeader.acknowledges == 0 else {
            try expect(payload, 0)
            guard !unacknowledged.isEmpty else {
                throw ConnectionError(.protocolError, "acknowledgement of SETTINGS that were not sent")
            }
            for setting in unacknowledged.removeFirst() {
                if setting.id == Setting.headerTableSize { fields.limitTable(setting.value) }
                settingAcknowledged(setting.id, setting.value)
            }
            return
        }
        guard payload.count % 6 == 0 else { throw ConnectionError(.frameSizeError, "SETTINGS with an invalid length") }
        hasSettings = true
        for start in stride(from: 0, to: payload.count, by: 6) {
            let id = UInt16(payload[start]) << 8 | UInt16(payload[start + 1])
            let value = Self.word(payload, start + 2)
            switch id {
            case Setting.initialWindowSize:
                guard value <= Self.maxWindow else {
                    throw ConnectionError(.flowControlError, "the initial window is too large")
                }
                // The change also applies to the windows of open streams (RFC 9113, section 6.9.2).
                guard !streamWindows.values.contains(where: { Int(value) + $0 > Self.maxWindow }) else {
                    throw ConnectionError(
                        .flowControlError,
                        "the initial window raises a stream's above the maximum"
                    )
                }
                initialSendWindow = Int(value)
            case Setting.maxFrameSize:
                guard (16_384...16_777_215).contains(value) else {
                    throw ConnectionError(.protocolError, "an invalid maximum frame size")
                }
            case Setting.enablePush:
                guard value <= 1 else { throw ConnectionError(.protocolError, "an invalid SETTINGS value") }
            default: break
            }
            try settingReceived(id, value)
        }
        settingsReceived()
        try acknowledge(.settings, [])
    }

    private func takePing(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        guard header.streamID == 0 else { throw ConnectionError(.protocolError, "PING on a stream") }
        try expect(payload, 8)
        if header.flags & FrameHeader.acknowledges != 0 {
            pingAnswered()
        } else {
            try acknowledge(.ping, [UInt8](payload))
        }
    }

    private func acknowledge(_ kind: FrameHeader.Kind, _ payload: [UInt8]) throws {
        acknowledgements += 1
        guard acknowledgements <= Self.maxAcknowledgements else {
            throw ConnectionError(.enhanceYourCalm, "too many frames to acknowledge")
        }
        say(kind, flags: FrameHeader.acknowledges, 0, payload)
    }

    private func takeWindow(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        try expect(payload, 4)
        let increment = Int(Self.word(payload, 0) & 0x7FFF_FFFF)
        if header.streamID == 0 {
            guard increment > 0 else { throw ConnectionError(.protocolError, "a WINDOW_UPDATE of 0") }
            sendWindow += increment
            guard sendWindow <= Self.maxWindow else {
                throw ConnectionError(.flowControlError, "a window that is too large")
            }
            return
        }
        guard hasBegun(header.streamID) else {
            throw ConnectionError(.protocolError, "WINDOW_UPDATE for a stream that was never opened")
        }
        guard increment > 0 else {
            if isOpen(header.streamID) { fail(header.streamID, .protocolError, "a WINDOW_UPDATE of 0") }
            return
        }
        guard hasBody(header.streamID) else { return }
        streamWindows[header.streamID, default: 0] += increment
        if window(of: header.streamID) > Self.maxWindow {
            fail(header.streamID, .flowControlError, "a window that is too large")
        }
    }

    /// Resets a stream because of the peer's error on it.
    final func fail(_ streamID: Int32, _ code: HTTP2ErrorCode, _ what: StaticString) {
        abandon(streamID, code)
        streamFailed(streamID, what)
    }

    /// Resets a stream on which more frames may arrive before the peer knows.
    final func abandon(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        sayReset(streamID, code.rawValue)
        abandoned.insert(streamID)
    }

    /// Handles a frame on a stream that is not open: it is late after our reset, or else a protocol error (RFC 9113,
    /// section 5.1).
    final func expectLate(_ streamID: Int32) throws {
        guard !abandoned.contains(streamID) else { return }
        throw ConnectionError(.streamClosed, "a frame on a stream that is closed")
    }

    private func expect(_ payload: UnsafeRawBufferPointer, _ count: Int) throws {
        guard payload.count == count else { throw ConnectionError(.frameSizeError, "a frame with a wrong length") }
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }
}

/// Writing.
extension FrameSession {
    /// Appends everything that is ready to be sent to a buffer, until nothing is left or the buffer has `limit` bytes.
    /// - Returns: whether there may be more.
    final func serialise(into buffer: inout ByteBuffer, limit: Int) -> Bool {
        if control.readableBytes > 0 {
            buffer.writeBuffer(&control)
            if control.capacity > Self.keptControl { control = ByteBuffer() } else { control.clear() }
            acknowledgements = 0
        }
        guard ownGoAway == nil else { return false }
        if !waiting.isEmpty, goOnWithBodies(&buffer, limit) { return true }
        while firstOfQueue < queue.count {
            guard buffer.readableBytes < limit else { return true }
            let streamID = queue[firstOfQueue]
            firstOfQueue += 1
            if writeHead(streamID, to: &buffer) == .waits { waiting.append(streamID) }
        }
        queue.removeAll(keepingCapacity: true)
        firstOfQueue = 0
        // A body that waits only for room in the buffer continues at once.
        return buffer.readableBytes >= limit && waiting.contains { window(of: $0) > 0 } && sendWindow > 0
    }

    /// - Returns: whether the buffer is full.
    private func goOnWithBodies(_ buffer: inout ByteBuffer, _ limit: Int) -> Bool {
        var left: [Int32] = []
        var isFull = false
        for streamID in waiting {
            isFull = isFull || buffer.readableBytes >= limit
            if isFull || writeBody(streamID, to: &buffer, limit: limit) == .waits { left.append(streamID) }
        }
        waiting = left
        return isFull
    }

    /// Queues the header block of a stream for writing.
    final func enqueue(_ streamID: Int32) { queue.append(streamID) }

    /// Drops the window of a stream that needs none any more.
    final func forget(_ streamID: Int32) {
        if !streamWindows.isEmpty { streamWindows[streamID] = nil }
    }

    private func window(of streamID: Int32) -> Int { initialSendWindow + (streamWindows[streamID] ?? 0) }

    /// Writes as much of the rest of a body as the windows and the buffer allow.
    /// - Parameter isFirst: whether nothing of the body is written yet. Its stream then has at least the initial
    ///   window.
    /// - Returns: the number of bytes written; all of them if the body is complete.
    final func write(
        _ rest: UnsafeRawBufferPointer,
        of streamID: Int32,
        isFirst: Bool,
        to buffer: inout ByteBuffer,
        limit: Int
    ) -> Int {
        // Nearly all bodies fit at once, so their streams' windows need not be tracked.
        if isFirst, rest.count <= min(FrameHeader.maxPayloadSize, sendWindow, initialSendWindow) {
            FrameHeader(.data, flags: FrameHeader.endsStream, streamID).write(rest, to: &buffer)
            sendWindow -= rest.count
            return rest.count
        }
        var taken = 0
        while taken < rest.count {
            let room = min(rest.count - taken, FrameHeader.maxPayloadSize, sendWindow, window(of: streamID))
            guard room > 0, taken == 0 || buffer.readableBytes < limit else { return taken }
            let ends = taken + room == rest.count
            FrameHeader(.data, flags: ends ? FrameHeader.endsStream : 0, streamID)
                .write(UnsafeRawBufferPointer(rebasing: rest[taken..<taken + room]), to: &buffer)
            sendWindow -= room
            streamWindows[streamID, default: 0] -= room
            taken += room
        }
        forget(streamID)
        return taken
    }

    /// Queues raw bytes before everything else: a client's preface.
    final func say(_ bytes: [UInt8]) { control.writeBytes(bytes) }

    final func say(_ kind: FrameHeader.Kind, flags: UInt8 = 0, _ streamID: Int32, _ payload: [UInt8]) {
        payload.withUnsafeBytes { FrameHeader(kind, flags: flags, streamID).write($0, to: &control) }
    }

    final func sayReset(_ streamID: Int32, _ code: UInt32) { say(.reset, streamID, Self.bytes(code)) }

    final func giveWindow(_ streamID: Int32, _ bytes: Int) { say(.windowUpdate, streamID, Self.bytes(UInt32(bytes))) }

    final func sendSettings(_ settings: [(id: UInt16, value: UInt32)]) {
        unacknowledged.append(settings)
        say(.settings, 0, settings.flatMap { [UInt8($0.id >> 8), UInt8($0.id & 0xFF)] + Self.bytes($0.value) })
    }

    final func sayPing() { say(.ping, 0, [UInt8](repeating: 0, count: 8)) }

    /// Sends GOAWAY: streams up to `last` get a response, later ones do not.
    final func sayGoAway(_ last: Int32, _ code: UInt32, _ debugData: [UInt8]) {
        // A later GOAWAY must not raise the last stream id (RFC 9113, section 6.8).
        lastAllowed = min(last, lastAllowed ?? .max)
        say(.goAway, 0, Self.bytes(UInt32(bitPattern: lastAllowed ?? last)) + Self.bytes(code) + debugData)
    }

    /// Sends GOAWAY; after it nothing more is read or sent.
    final func terminate(_ code: HTTP2ErrorCode, _ reason: String) {
        guard ownGoAway == nil else { return }
        sayGoAway(lastTaken, code.rawValue, Array(reason.utf8))
        ownGoAway = "\(code)" + (reason.isEmpty ? "" : ", \(reason)")
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }
}

/// The streams that one end has reset while the other may still have been sending on them.
struct AbandonedStreams {
    private var streams: Set<Int32> = []
    /// The highest stream id that is no longer stored: any stream up to it may be an abandoned one.
    private var forgotten: Int32 = 0
    /// The maximum number that are stored. Beyond it they are dropped, and no frame on a stream as old counts as an
    /// error.
    private static let maxStored = 4_096

    mutating func insert(_ streamID: Int32) {
        if streams.count == Self.maxStored {
            forgotten = streams.max() ?? forgotten
            streams = []
        }
        streams.insert(streamID)
    }

    func contains(_ streamID: Int32) -> Bool { streamID <= forgotten || streams.contains(streamID) }
}
