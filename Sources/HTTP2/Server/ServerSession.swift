import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The server's side of a connection: frames in, complete requests out; it does no I/O and lives on one event loop.
final class ServerSession: FrameSession {
    private let settings: HTTP2ServerSettings
    let streams = StreamTable(empty: ServerStream(), capacity: 2_048)
    /// Requests that became complete since the owner last took them.
    var requests: [HTTP2ServerRequest] = []
    /// Requests that are over, whose memory the next ones take.
    private var spare: [HTTP2ServerRequest] = []
    private var encoder = ResponseEncoder()
    /// The last stream that was taken, and the last one that the client opened: it may not have read our GOAWAY yet.
    private var lastStreamID: Int32 = 0
    private var lastOpened: Int32 = 0
    /// Streams that the client has passed over, which closes them for good (RFC 9113, section 5.1.1).
    private var skipped: [ClosedRange<Int32>] = []
    /// The limit of streams that was announced last, and the one that the client has acknowledged.
    private var limit: UInt32
    private var acknowledgedLimit = UInt32.max

    /// Enough for most reads; with usual requests, of a kilobyte, these are 256 KiB a connection…
    private static let mostSpare = 256
    /// …and 512 KiB at most.
    private static let largestSpare = 2 * 1_024
    /// HPACK lets a frame of some kilobytes unfold into gigabytes: a request whose fields exceed this is reset.
    private static let largestHeaderBlock = 64 * 1_024

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

    // MARK: Answers

    /// Answers a stream; one that is closed meanwhile is left alone.
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
        // One that is gone was reset after its answer.
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

    /// Writes as much of an answer's body as there is room for; what is left is kept with its stream.
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

    /// The answer is written, which ends the stream if the request is complete.
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
            // Of a stream that we have reset, or that our GOAWAY excludes; the table has to know the fields all the same.
            return try fields.read(block) { _, _ in }
        }
        if streams.count >= acknowledgedLimit {
            let words = settings.violationDebugData.map { String(decoding: $0, as: UTF8.self) }
            return terminate(.protocolError, words ?? "more streams than are allowed")
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
        // Clients leave no gaps; of one that does the latest are told apart from streams that were used.
        if streamID > lastOpened + 2 {
            if skipped.count == Self.mostSkipped { skipped.removeFirst() }
            skipped.append(lastOpened + 1...streamID - 1)
        }
        lastOpened = streamID
    }

    private static let mostSkipped = 8

    /// A frame came for a stream that is not open.
    private func expectLateRequest(_ streamID: Int32) throws {
        if let lastAllowed, streamID > lastAllowed { return }
        guard !skipped.contains(where: { $0.contains(streamID) }) else {
            throw ConnectionError(.protocolError, "a stream with a lower id than the one before")
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
        guard ends else { return fail(streamID, .protocolError, "trailers that do not end it") }
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
            if slot.pointee.value.headers.bytes.count + name.count + value.count > Self.largestHeaderBlock {
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
        // A smaller window than the usual one may not have come to the client's knowledge.
        guard slot.pointee.value.untaken <= max(Self.usualWindow, Int(settings.initialWindowSize)) else {
            return fail(streamID, .flowControlError, "more of a body than the window allows")
        }
        let room = max(0, settings.largestBody - slot.pointee.value.body.count)
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

    /// Takes back requests that were handled, for their memory.
    func recycle(_ handled: inout [HTTP2ServerRequest]) {
        guard !handled.isEmpty else { return }
        while spare.count < Self.mostSpare, var request = handled.popLast() {
            guard request.body.capacity + request.headers.capacity <= Self.largestSpare else { continue }
            request.headers.removeAll()
            request.body.removeAll(keepingCapacity: true)
            spare.append(request)
        }
        handled.removeAll(keepingCapacity: true)
        if requests.isEmpty { swap(&requests, &handled) }
    }
}

/// What a server connection remembers of one open stream.
struct ServerStream {
    /// The response with the value of its field that varies, and how much of its body is written.
    struct Answer {
        let response: HTTP2PreparedResponse
        let value: ArraySlice<UInt8>
        let body: [UInt8]
        var sent = 0
    }

    var headers = HTTP2HeaderBlock()
    var body: [UInt8] = []
    var bodyLength = 0
    /// The length that the body is to have; nil if the client did not say.
    var announcedLength: Int?
    /// Bytes of the stream's window that were used and not given back.
    var untaken = 0
    /// Until it is written.
    var answer: Answer?
    /// The stream is answered, or will be.
    var hasAnswer = false
    /// The whole request has come.
    var isComplete = false
    /// The whole answer is written.
    var isAnswered = false
}

/// Writes the header blocks of a connection's answers (HPACK, RFC 7541): what lasts goes once a connection, the field that varies as it is.
struct ResponseEncoder {
    private var encoder = HeaderEncoder()
    /// Blocks that hold as long as nothing enters the table.
    private var blocks: [(number: UInt64, block: [UInt8])] = []

    /// A gateway's usual answers; those that are made for once come in between.
    private static let mostBlocks = 16

    /// Takes the client's bound of the table, in bytes.
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
        let room = updates.count + block.count + name.count + value.count + HeaderBlockWriter.longestInteger
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
            if blocks.count == Self.mostBlocks { blocks.removeFirst() }
            blocks.append((response.number, block))
        }
        return block
    }
}
