import NIOCore

/// What both ends of an HTTP/2 connection do with frames (RFC 9113): bytes in, frames taken apart, and what is to be said kept until it
/// is written. It does no I/O, and lives on one event loop.
///
/// Streams and requests are those of ``ClientSession`` and ``ServerSession``, which say here what a frame means to them.
class FrameSession {
    /// What is to be sent before all else: settings, acknowledgements, resets, windows, GOAWAY.
    private var control = ByteBuffer()
    private var reader: FrameReader
    let fields: HeaderReader
    /// A header block that goes on in CONTINUATION frames.
    private var unfinished: (streamID: Int32, flags: UInt8, block: [UInt8], pieces: Int)?
    private var hasSettings = false
    /// Settings of ours that the peer has not acknowledged.
    private var unacknowledged: [[(id: UInt16, value: UInt32)]] = []

    /// Bytes of bodies that the peer takes now, for all streams together.
    private(set) var sendWindow = FrameSession.usualWindow
    private var initialSendWindow = FrameSession.usualWindow
    /// What streams were given beyond the initial window, or have used up of it, where a body waits.
    private var streamWindows: [Int32: Int] = [:]
    /// Streams whose bodies wait for a window, in the order in which they were begun.
    private var waiting: [Int32] = []
    /// Streams whose header block has not left.
    private var queue: [Int32] = []
    private var firstOfQueue = 0

    private let receiveWindow: Int
    /// Bytes of bodies that came and for which the peer was given no new room.
    private var received = 0
    /// Why the connection ends from our side, if it does: nothing more is read.
    private(set) var ownGoAway: String?
    /// The last stream that our GOAWAY lets the peer have answered.
    private(set) var lastAllowed: Int32?
    var goAwayReceived: Int32?
    private var acknowledgements = 0
    /// Streams that we have reset: what the peer said of them before it knew is late, and no breach.
    private var abandoned = AbandonedStreams()

    /// RFC 9113, section 6.9.2.
    static let usualWindow = 65_535
    private static let largestWindow = Int(Int32.max)
    /// More than that to be acknowledged by one read is nobody's but an attacker's.
    private static let mostAcknowledgements = 1_000
    /// The memory for what goes before all else that is kept: a thousand acknowledgements are seldom.
    private static let keptControl = 1_024
    /// More of it than that, 20,000 resets, waits only where a peer has us say things and does not read them.
    private static let mostControl = 256 * 1_024
    /// The largest block has 16 full frames; a peer could send small or empty ones without end.
    private static let mostPieces = 64
    /// More than any gateway's or sender's; HPACK makes far more of it.
    private static let largestBlock = 256 * 1_024

    /// - Parameter receiveWindow: bytes of bodies that the peer may send before we have taken them.
    init(receiveWindow: Int, preface: Int = 0) throws {
        reader = FrameReader(preface: preface)
        fields = try HeaderReader()
        self.receiveWindow = receiveWindow
    }

    // MARK: For the two ends

    /// Whether anything is to be sent or may come.
    var isFinished: Bool {
        control.readableBytes == 0
            && (ownGoAway != nil || (goAwayReceived != nil || lastAllowed != nil) && isIdle && queue.isEmpty)
    }
    /// Whether no stream is open.
    var isIdle: Bool { true }
    /// The last of the peer's streams that something was done for.
    var lastTaken: Int32 { 0 }
    /// A whole header block came.
    func headersReceived(_ streamID: Int32, ends: Bool, _ block: UnsafeRawBufferPointer) throws {}
    /// A piece of a body came, and so many bytes of the window were used for it.
    func dataReceived(_ streamID: Int32, ends: Bool, _ data: UnsafeRawBufferPointer, window: Int) throws {}
    /// The peer gave up a stream.
    func resetReceived(_ streamID: Int32, _ code: UInt32) throws {}
    /// A setting of the peer's.
    func settingReceived(_ id: UInt16, _ value: UInt32) throws {}
    /// All of the peer's settings of one frame are in force.
    func settingsReceived() {}
    /// A setting of ours is in force with the peer.
    func settingAcknowledged(_ id: UInt16, _ value: UInt32) {}
    func pingAnswered() {}
    func goAwayReceived(_ code: UInt32, _ last: Int32, _ debugData: UnsafeRawBufferPointer) throws {}
    /// Whether a stream may be known to the peer: frames for one that is over are late, those for another are an error.
    func hasBegun(_ streamID: Int32) -> Bool { false }
    /// Whether a stream is open and has a body to be sent.
    func hasBody(_ streamID: Int32) -> Bool { false }
    /// Whether a stream is open.
    func isOpen(_ streamID: Int32) -> Bool { false }
    /// Ends a stream for what the peer did with it.
    func streamFailed(_ streamID: Int32, _ what: StaticString) {}
    /// Writes the header block of a stream, and as much of its body as there is room for.
    func writeHead(_ streamID: Int32, to buffer: inout ByteBuffer) -> BodyProgress { .over }
    /// Writes more of a body.
    func writeBody(_ streamID: Int32, to buffer: inout ByteBuffer, limit: Int) -> BodyProgress { .over }

    /// How far a stream is.
    enum BodyProgress {
        /// All of it is written, or there is no such stream any more.
        case over
        /// It waits for a window, or for room.
        case waits
    }
}

/// Reading.
extension FrameSession {
    /// Takes bytes from the peer; what breaks the protocol ends the connection with a GOAWAY.
    ///
    /// - Throws: ``ConnectionError`` if it does not speak HTTP/2 at all.
    final func receive(_ bytes: UnsafeRawBufferPointer) throws {
        guard ownGoAway == nil else { return }
        let frames = try reader.skipPreface(bytes)
        if !hasSettings { try expectNoHTTP1(frames) }
        do {
            try reader.read(frames) { header, payload in
                try take(header, payload)
                return ownGoAway == nil
            }
            guard control.readableBytes <= Self.mostControl else {
                throw ConnectionError(.enhanceYourCalm, "it does not read the answers that it asks for")
            }
        } catch let error as ConnectionError {
            terminate(error.code, error.reason)
        }
    }

    /// What speaks HTTP/1.1 only answers the preface with an error of its own, which as a frame would be one of 4 MB.
    private func expectNoHTTP1(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.starts(with: "HTTP/".utf8) else { return }
        let line = bytes.prefix { $0 >= 0x20 && $0 < 0x7F }.prefix(Self.longestLine)
        throw ConnectionError(
            .http11Required,
            "it says “\(String(decoding: line, as: UTF8.self))” where HTTP/2's SETTINGS belong: it speaks HTTP/1.1 only"
        )
    }

    /// The status line of HTTP/1.1 with its reason.
    private static let longestLine = 60

    private func take(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        if let streamID = unfinished?.streamID, header.kind != .continuation || header.streamID != streamID {
            throw ConnectionError(.protocolError, "a header block does not go on")
        }
        guard hasSettings || header.kind == .settings && header.flags & FrameHeader.acknowledges == 0 else {
            throw ConnectionError(.protocolError, "the first frame is no SETTINGS")
        }
        switch header.kind {
        case .data: try takeData(header, payload)
        case .headers: try takeHeaders(header, payload)
        case .continuation: try takeContinuation(header, payload)
        case .priority:
            guard header.streamID != 0 else { throw ConnectionError(.protocolError, "PRIORITY for no stream") }
            try expect(payload, 5)
        case .reset:
            try expect(payload, 4)
            guard header.streamID != 0, hasBegun(header.streamID) else {
                throw ConnectionError(.protocolError, "RST_STREAM for a stream that was never opened")
            }
            try resetReceived(header.streamID, Self.word(payload, 0))
        case .settings: try takeSettings(header, payload)
        case .pushPromise: throw ConnectionError(.protocolError, "PUSH_PROMISE, which is not allowed")
        case .ping: try takePing(header, payload)
        case .goAway:
            guard header.streamID == 0 else { throw ConnectionError(.protocolError, "GOAWAY for a stream") }
            guard payload.count >= 8 else { throw ConnectionError(.frameSizeError, "GOAWAY is too short") }
            let last = Int32(bitPattern: Self.word(payload, 0) & 0x7FFF_FFFF)
            guard last <= goAwayReceived ?? .max else {
                throw ConnectionError(.protocolError, "a GOAWAY takes back the one before")
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
            throw ConnectionError(.flowControlError, "more DATA than there is room for")
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
        guard header.streamID != 0 else { throw ConnectionError(.protocolError, "HEADERS for no stream") }
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
        guard unfinished != nil else { throw ConnectionError(.protocolError, "CONTINUATION of nothing") }
        unfinished?.block.append(contentsOf: payload)
        unfinished?.pieces += 1
        guard let begun = unfinished, begun.block.count <= Self.largestBlock, begun.pieces <= Self.mostPieces else {
            throw ConnectionError(.enhanceYourCalm, "a header block is too large")
        }
        guard header.flags & FrameHeader.endsHeaders != 0, let whole = unfinished else { return }
        unfinished = nil
        try whole.block.withUnsafeBytes {
            try headersReceived(whole.streamID, ends: whole.flags & FrameHeader.endsStream != 0, $0)
        }
    }

    private func takeSettings(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        guard header.streamID == 0 else { throw ConnectionError(.protocolError, "SETTINGS for a stream") }
        guard header.flags & FrameHeader.acknowledges == 0 else {
            try expect(payload, 0)
            guard !unacknowledged.isEmpty else {
                throw ConnectionError(.protocolError, "SETTINGS that were not sent are acknowledged")
            }
            for setting in unacknowledged.removeFirst() {
                if setting.id == Setting.headerTableSize { fields.limitTable(setting.value) }
                settingAcknowledged(setting.id, setting.value)
            }
            return
        }
        guard payload.count % 6 == 0 else { throw ConnectionError(.frameSizeError, "SETTINGS of a broken length") }
        hasSettings = true
        for start in stride(from: 0, to: payload.count, by: 6) {
            let id = UInt16(payload[start]) << 8 | UInt16(payload[start + 1])
            let value = Self.word(payload, start + 2)
            switch id {
            case Setting.initialWindowSize:
                guard value <= Self.largestWindow else {
                    throw ConnectionError(.flowControlError, "an initial window that is too large")
                }
                // It moves the windows of open streams, too (RFC 9113, section 6.9.2).
                guard !streamWindows.values.contains(where: { Int(value) + $0 > Self.largestWindow }) else {
                    throw ConnectionError(
                        .flowControlError,
                        "an initial window that lifts a stream's above the maximum"
                    )
                }
                initialSendWindow = Int(value)
            case Setting.maxFrameSize:
                guard (16_384...16_777_215).contains(value) else {
                    throw ConnectionError(.protocolError, "a frame size that is none")
                }
            case Setting.enablePush:
                guard value <= 1 else { throw ConnectionError(.protocolError, "a SETTINGS value that is none") }
            default: break
            }
            try settingReceived(id, value)
        }
        settingsReceived()
        try acknowledge(.settings, [])
    }

    private func takePing(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        guard header.streamID == 0 else { throw ConnectionError(.protocolError, "PING for a stream") }
        try expect(payload, 8)
        if header.flags & FrameHeader.acknowledges != 0 {
            pingAnswered()
        } else {
            try acknowledge(.ping, [UInt8](payload))
        }
    }

    private func acknowledge(_ kind: FrameHeader.Kind, _ payload: [UInt8]) throws {
        acknowledgements += 1
        guard acknowledgements <= Self.mostAcknowledgements else {
            throw ConnectionError(.enhanceYourCalm, "too much to acknowledge")
        }
        say(kind, flags: FrameHeader.acknowledges, 0, payload)
    }

    private func takeWindow(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) throws {
        try expect(payload, 4)
        let increment = Int(Self.word(payload, 0) & 0x7FFF_FFFF)
        if header.streamID == 0 {
            guard increment > 0 else { throw ConnectionError(.protocolError, "WINDOW_UPDATE by nothing") }
            sendWindow += increment
            guard sendWindow <= Self.largestWindow else {
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
        if window(of: header.streamID) > Self.largestWindow {
            fail(header.streamID, .flowControlError, "a window that is too large")
        }
    }

    /// Ends a stream for what the peer did with it, and tells the peer.
    final func fail(_ streamID: Int32, _ code: HTTP2ErrorCode, _ what: StaticString) {
        abandon(streamID, code)
        streamFailed(streamID, what)
    }

    /// Resets a stream of which more may come before the peer knows.
    final func abandon(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        sayReset(streamID, code.rawValue)
        abandoned.insert(streamID)
    }

    /// A frame came for a stream that is not open: late after our reset, or else a breach (RFC 9113, section 5.1).
    final func expectLate(_ streamID: Int32) throws {
        guard !abandoned.contains(streamID) else { return }
        throw ConnectionError(.streamClosed, "a frame on a stream that is closed")
    }

    private func expect(_ payload: UnsafeRawBufferPointer, _ count: Int) throws {
        guard payload.count == count else { throw ConnectionError(.frameSizeError, "a frame of a wrong length") }
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }
}

/// Writing.
extension FrameSession {
    /// Appends what is ready to be sent to a buffer, until nothing is left or the buffer has `limit` bytes.
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
        // A body that waits for room in the buffer, and for no window, goes on at once.
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

    /// Has the header block of a stream written, behind those of others.
    final func enqueue(_ streamID: Int32) { queue.append(streamID) }

    /// Forgets the window of a stream that needs none any more.
    final func forget(_ streamID: Int32) {
        if !streamWindows.isEmpty { streamWindows[streamID] = nil }
    }

    private func window(of streamID: Int32) -> Int { initialSendWindow + (streamWindows[streamID] ?? 0) }

    /// Writes as much of the rest of a body as windows and buffer have room for.
    /// - Parameter isFirst: nothing of the body is written yet, so that its stream has the initial window at least.
    /// - Returns: the bytes that were taken; all of them if the body is over.
    final func write(
        _ rest: UnsafeRawBufferPointer,
        of streamID: Int32,
        isFirst: Bool,
        to buffer: inout ByteBuffer,
        limit: Int
    ) -> Int {
        // Nearly all bodies are of this kind: nothing has to be remembered of their streams' windows.
        if isFirst, rest.count <= min(FrameHeader.largestPayload, sendWindow, initialSendWindow) {
            FrameHeader(.data, flags: FrameHeader.endsStream, streamID).write(rest, to: &buffer)
            sendWindow -= rest.count
            return rest.count
        }
        var taken = 0
        while taken < rest.count {
            let room = min(rest.count - taken, FrameHeader.largestPayload, sendWindow, window(of: streamID))
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

    /// What goes before all else: a client's preface.
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

    /// Tells the peer which streams are answered, and that no later ones are.
    final func sayGoAway(_ last: Int32, _ code: UInt32, _ debugData: [UInt8]) {
        // No later one takes back what an earlier one said (RFC 9113, section 6.8).
        lastAllowed = min(last, lastAllowed ?? .max)
        say(.goAway, 0, Self.bytes(UInt32(bitPattern: lastAllowed ?? last)) + Self.bytes(code) + debugData)
    }

    /// Sends GOAWAY; nothing more is read, and nothing else sent.
    final func terminate(_ code: HTTP2ErrorCode, _ reason: String) {
        guard ownGoAway == nil else { return }
        sayGoAway(lastTaken, code.rawValue, Array(reason.utf8))
        ownGoAway = "\(code)" + (reason.isEmpty ? "" : ", \(reason)")
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }
}

/// The streams that one end of a connection has reset while the other may still have been sending on them.
struct AbandonedStreams {
    private var streams: Set<Int32> = []
    /// The highest one that is not remembered by itself: any up to it may be one.
    private var forgotten: Int32 = 0
    /// More are forgotten, and nothing on streams as old as they is a breach any more.
    private static let most = 4_096

    mutating func insert(_ streamID: Int32) {
        if streams.count == Self.most {
            forgotten = streams.max() ?? forgotten
            streams = []
        }
        streams.insert(streamID)
    }

    func contains(_ streamID: Int32) -> Bool { streamID <= forgotten || streams.contains(streamID) }
}
