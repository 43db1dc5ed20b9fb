import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The server side of a connection: frames in, complete requests out. It does no I/O and is confined to one event loop.
final class ServerSession: FrameSession {
    private let settings: HTTP2ServerSettings
    let streams = StreamTable(empty: ServerStream(), capacity: 2_048)
    /// The complete requests that the owner has not taken yet.
    var requests: [HTTP2ServerRequest] = []
    /// Finished requests, whose memory the next ones reuse.
    private var spare: [HTTP2ServerRequest] = []
    private var encoder = ResponseEncoder()
    /// The last stream that was processed, and the last one that the client opened. They differ if the client has not
    /// read our GOAWAY yet.
    private var lastStreamID: Int32 = 0
    private var lastOpened: Int32 = 0
    /// Stream ids that the client has skipped, which closes them permanently (RFC 9113, section 5.1.1).
    private var skipped: [ClosedRange<Int32>] = []
    /// The stream limit that was last announced, and the one that the client has acknowledged.
    private var limit: UInt32
    private var acknowledgedLimit = UInt32.max

    /// The maximum number of spare requests; enough for most reads. At the usual kilobyte each, they are 256 KiB per
    /// connection…
    private static let maxSpare = 256
    /// …and, with this maximum size in bytes, at most 512 KiB.
    private static let maxSpareCapacity = 2 * 1_024
    /// A request whose decoded fields exceed this size, in bytes, is reset. With HPACK, a frame of some kilobytes can
    /// expand to gigabytes.
    private static let maxHeaderBlockSize = 64 * 1_024

    init(settings: HTTP2ServerSettings) throws {
        self.settings = settings
        limit = settings.maxConcurrentStreams
        try super.init(receiveWindow: Self.usualWindow, preface: FrameReader.preface.count)
        sendSettings([
            (Setting.headerTableSize, settings.headerTableSize),
            (Setting.maxConcurrentStreams, settings.maxConcurrentStreams),
            (Setting.initialWindowSize, settings.initialWindowSize),
            (Setting.maxHeaderListSize, settings.maxHeaderListSize),
        ])
    }

    override var isIdle: Bool { streams.count == 0 }

    func setMaxConcurrentStreams(_ limit: UInt32) {
        self.limit = limit
        sendSettings([(Setting.maxConcurrentStreams, limit)])
    }

    override func settingAcknowledged(_ id: UInt16, _ value: UInt32) {
        if id == Setting.maxConcurrentStreams { acknowledgedLimit = value }
    }

    override func settingReceived(_ id: UInt16, _ value: UInt32) throws {
        if id == Setting.headerTableSize { encoder.limitTable(Int(value)) }
    }

    // MARK: Responses

    /// Answers a stream; has no effect on a closed one.
    func respond(
        _ streamID: Int32,
        _ response: HTTP2PreparedResponse,
        varyingValue: ArraySlice<UInt8>,
        body: [UInt8]
    ) {
        guard let slot = streams.find(streamID), !slot.pointee.value.hasAnswer else { return }
        slot.pointee.value.hasAnswer = true
        slot.pointee.value.answer = ServerStream.Answer(response: response, value: varyingValue, body: body)
        enqueue(streamID)
    }

    override func hasBegun(_ streamID: Int32) -> Bool { streamID % 2 == 1 && streamID <= lastOpened }

    override var lastTaken: Int32 { lastStreamID }

    override func hasBody(_ streamID: Int32) -> Bool { streams.find(streamID) != nil }

    override func isOpen(_ streamID: Int32) -> Bool { streams.find(streamID) != nil }

    override func writeHead(_ streamID: Int32, to buffer: inout ByteBuffer) -> BodyProgress {
        // A missing stream was reset after its response was queued.
        guard let slot = streams.find(streamID), let answer = slot.pointee.value.answer.take() else { return .over }
        let flags = answer.body.isEmpty ? FrameHeader.endsStream : 0
        encoder.append(answer.response, answer.value, flags: flags, streamID: streamID, to: &buffer)
        if answer.body.isEmpty {
            answered(slot)
            return .over
        }
        return write(answer, slot, to: &buffer, limit: .max)
    }

    override func writeBody(_ streamID: Int32, to buffer: inout ByteBuffer, limit: Int) -> BodyProgress {
        guard let slot = streams.find(streamID), let answer = slot.pointee.value.answer.take() else { return .over }
        return write(answer, slot, to: &buffer, limit: limit)
    }

    /// Writes as much of a response's body as fits; the stream keeps the rest.
    private func write(
        _ answer: consuming ServerStream.Answer,
        _ slot: UnsafeMutablePointer<StreamTable<ServerStream>.Slot>,
        to buffer: inout ByteBuffer,
        limit: Int
    ) -> BodyProgress {
        let streamID = slot.pointee.streamID
        let taken = answer.body.withUnsafeBytes {
            let rest = UnsafeRawBufferPointer(rebasing: $0[answer.sent...])
            return write(rest, of: streamID, isFirst: answer.sent == 0, to: &buffer, limit: limit)
        }
        guard answer.sent + taken == answer.body.count else {
            answer.sent += taken
            slot.pointee.value.answer = answer
            return .waits
        }
        answered(slot)
        return .over
    }

    /// The response is written. If the request is complete, the stream ends.
    private func answered(_ slot: UnsafeMutablePointer<StreamTable<ServerStream>.Slot>) {
        slot.pointee.value.isAnswered = true
        if slot.pointee.value.isComplete { close(slot) }
    }

    private func close(_ slot: UnsafeMutablePointer<StreamTable<ServerStream>.Slot>) {
        forget(slot.pointee.streamID)
        _ = streams.remove(slot)
    }

    func reset(_ streamID: Int32, _ code: UInt32) {
        guard let slot = streams.find(streamID) else { return }
        if slot.pointee.value.isComplete {
            sayReset(streamID, code)
        } else {
            abandon(streamID, HTTP2ErrorCode(rawValue: code))
        }
        close(slot)
    }

    func goAway(lastStreamID: Int32?, code: UInt32, debugData: [UInt8]) {
        var last = max(0, lastStreamID ?? self.lastStreamID)
        // A client's streams have odd ids.
        if last > 0, last % 2 == 0 { last -= 1 }
        sayGoAway(last, code, debugData)
        for streamID in streams.openStreams() where streamID > last {
            if let slot = streams.find(streamID) { close(slot) }
        }
    }

    // MARK: Requests

    override func headersReceived(_ streamID: Int32, ends: Bool, _ block: UnsafeRawBufferPointer) throws {
        guard streamID % 2 == 1 else {
            throw ConnectionError(.protocolError, "HEADERS on a stream that is not the client's")
        }
        if let slot = streams.find(streamID) { return try trailersReceived(slot, ends, block) }
        let isNew = streamID > lastOpened
        if isNew { noteOpened(streamID) }
        guard isNew, streamID <= lastAllowed ?? .max else {
            try expectLateRequest(streamID)
            // The stream was reset by us, or our GOAWAY excludes it. Its fields must be read, because they update the
            // header table.
            return try fields.read(block) { _, _ in }
        }
        if streams.count >= acknowledgedLimit {
            let words = settings.violationDebugData.map { String(decoding: $0, as: UTF8.self) }
            return terminate(.protocolError, words ?? "more streams than the limit allows")
        }
        lastStreamID = streamID
        guard streams.count < limit else {
            abandon(streamID, .refusedStream)
            return try fields.read(block) { _, _ in }
        }
        begin(streamID)
        guard let slot = streams.find(streamID) else { return }
        var check = FieldCheck(isRequest: true, isTrailer: false)
        let fits = try read(block, into: slot, &check)
        check.end()
        guard fits else { return fail(streamID, .internalError, "too many fields") }
        guard !check.isMalformed else { return fail(streamID, .protocolError, check.fault) }
        slot.pointee.value.announcedLength = check.length
        if ends { complete(slot) }
    }

    private func noteOpened(_ streamID: Int32) {
        // Clients usually leave no gaps. Of one that does, the latest gaps are recorded, to distinguish them from used
        // streams.
        if streamID > lastOpened + 2 {
            if skipped.count == Self.maxSkipped { skipped.removeFirst() }
            skipped.append(lastOpened + 1...streamID - 1)
        }
        lastOpened = streamID
    }

    private static let maxSkipped = 8

    /// Handles a frame on a stream that is not open.
    private func expectLateRequest(_ streamID: Int32) throws {
        if let lastAllowed, streamID > lastAllowed { return }
        guard !skipped.contains(where: { $0.contains(streamID) }) else {
            throw ConnectionError(.protocolError, "a stream with a lower id than the previous one")
        }
        try expectLate(streamID)
    }

    private func trailersReceived(
        _ slot: UnsafeMutablePointer<StreamTable<ServerStream>.Slot>,
        _ ends: Bool,
        _ block: UnsafeRawBufferPointer
    ) throws {
        let streamID = slot.pointee.streamID
        guard !slot.pointee.value.isComplete else {
            throw ConnectionError(.streamClosed, "HEADERS on a stream that the client has ended")
        }
        var check = FieldCheck(isRequest: true, isTrailer: true)
        let fits = try read(block, into: slot, &check)
        guard fits else { return fail(streamID, .internalError, "too many fields") }
        guard !check.isMalformed else { return fail(streamID, .protocolError, check.fault) }
        guard ends else { return fail(streamID, .protocolError, "trailers that do not end the stream") }
        complete(slot)
    }

    /// - Returns: whether the request's fields fit.
    private func read(
        _ block: UnsafeRawBufferPointer,
        into slot: UnsafeMutablePointer<StreamTable<ServerStream>.Slot>,
        _ check: inout FieldCheck
    ) throws -> Bool {
        var fits = true
        var isSound = true
        try fields.read(block) { name, value in
            guard fits, isSound, check.take(name, value) else {
                isSound = !check.isMalformed
                return
            }
            if slot.pointee.value.headers.bytes.count + name.count + value.count > Self.maxHeaderBlockSize {
                fits = false
            } else {
                slot.pointee.value.headers.append(name: name, value: value)
            }
        }
        return fits
    }

    private func begin(_ streamID: Int32) {
        var stream = ServerStream()
        if let request = spare.popLast() {
            stream.headers = request.headers
            stream.body = request.body
        } else {
            stream.headers.reserve()
        }
        streams.insert(streamID, stream)
    }

    override func dataReceived(_ streamID: Int32, ends: Bool, _ data: UnsafeRawBufferPointer, window: Int) throws {
        guard let slot = streams.find(streamID) else { return try expectLateRequest(streamID) }
        guard !slot.pointee.value.isComplete else {
            return fail(streamID, .streamClosed, "a body after its end")
        }
        slot.pointee.value.untaken += window
        // The client may not know yet of an initial window below the default.
        guard slot.pointee.value.untaken <= max(Self.usualWindow, Int(settings.initialWindowSize)) else {
            return fail(streamID, .flowControlError, "more of a body than the window allows")
        }
        let room = max(0, settings.maxBodySize - slot.pointee.value.body.count)
        slot.pointee.value.body.append(contentsOf: data.prefix(room))
        slot.pointee.value.bodyLength += data.count
        if ends {
            complete(slot)
        } else if slot.pointee.value.untaken >= Int(settings.initialWindowSize) / 2, slot.pointee.value.untaken > 0 {
            giveWindow(streamID, slot.pointee.value.untaken)
            slot.pointee.value.untaken = 0
        }
    }

    private func complete(_ slot: UnsafeMutablePointer<StreamTable<ServerStream>.Slot>) {
        let streamID = slot.pointee.streamID
        if let announced = slot.pointee.value.announcedLength, announced != slot.pointee.value.bodyLength {
            return fail(streamID, .protocolError, "a body that differs in length from its content-length")
        }
        slot.pointee.value.isComplete = true
        requests.append(
            HTTP2ServerRequest(
                streamID: streamID,
                headers: HTTP2HeaderBlock(),
                body: [],
                bodyLength: slot.pointee.value.bodyLength
            )
        )
        swap(&requests[requests.count - 1].headers, &slot.pointee.value.headers)
        swap(&requests[requests.count - 1].body, &slot.pointee.value.body)
        if slot.pointee.value.isAnswered { close(slot) }
    }

    override func resetReceived(_ streamID: Int32, _ code: UInt32) throws {
        if let slot = streams.find(streamID) { close(slot) }
    }

    override func streamFailed(_ streamID: Int32, _ what: StaticString) {
        if let slot = streams.find(streamID) { close(slot) }
    }

    /// Takes back handled requests to reuse their memory.
    func recycle(_ handled: inout [HTTP2ServerRequest]) {
        guard !handled.isEmpty else { return }
        while spare.count < Self.maxSpare, var request = handled.popLast() {
            guard request.body.capacity + request.headers.capacity <= Self.maxSpareCapacity else { continue }
            request.headers.removeAll()
            request.body.removeAll(keepingCapacity: true)
            spare.append(request)
        }
        handled.removeAll(keepingCapacity: true)
        if requests.isEmpty { swap(&requests, &handled) }
    }
}

/// The state of an open stream.
struct ServerStream {
    /// The response, the value of its varying field, and the number of body bytes written.
    struct Answer {
        let response: HTTP2PreparedResponse
        let value: ArraySlice<UInt8>
        let body: [UInt8]
        var sent = 0
    }

    var headers = HTTP2HeaderBlock()
    var body: [UInt8] = []
    var bodyLength = 0
    /// The announced length of the body; nil for none.
    var announcedLength: Int?
    /// Bytes of the stream's window that are used and not returned yet.
    var untaken = 0
    /// The response until it is written.
    var answer: Answer?
    /// Whether a response was given.
    var hasAnswer = false
    /// Whether the request is complete.
    var isComplete = false
    /// Whether the response is completely written.
    var isAnswered = false
}

/// Writes the header blocks of a connection's responses (HPACK, RFC 7541): constant fields are sent once per
/// connection, the varying field as a literal.
struct ResponseEncoder {
    private var encoder = HeaderEncoder()
    /// Encoded blocks; valid until a field enters the table.
    private var blocks: [(number: UInt64, block: [UInt8])] = []

    /// The maximum number of blocks: a gateway's usual responses, and some that are used once.
    private static let maxBlocks = 16

    /// Sets the client's limit of the table, in bytes.
    mutating func limitTable(_ bytes: Int) {
        encoder.limitTable(bytes)
        blocks = []
    }

    mutating func append(
        _ response: HTTP2PreparedResponse,
        _ value: ArraySlice<UInt8>,
        flags: UInt8,
        streamID: Int32,
        to buffer: inout ByteBuffer
    ) {
        let start = buffer.writerIndex
        let updates = encoder.takeUpdates()
        let block = block(response)
        let name = response.varyingName ?? []
        let room = updates.count + block.count + name.count + value.count + HeaderBlockWriter.maxIntegerLength
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: FrameHeader.length + room) { space in
            var writer = HeaderBlockWriter(space, from: FrameHeader.length)
            writer.copy(updates)
            writer.copy(block)
            if !name.isEmpty {
                writer.copy(name)
                value.withUnsafeBytes { writer.append($0) }
            }
            return writer.count
        }
        FrameHeader.divide(&buffer, from: start, flags: flags, streamID: streamID)
    }

    private mutating func block(_ response: HTTP2PreparedResponse) -> [UInt8] {
        if let known = blocks.first(where: { $0.number == response.number }) { return known.block }
        let before = encoder.insertions
        let block = response.fields.flatMap { encoder.encoded($0) }
        if encoder.insertions != before {
            blocks = []
        } else {
            if blocks.count == Self.maxBlocks { blocks.removeFirst() }
            blocks.append((response.number, block))
        }
        return block
    }
}
