import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The client side of a connection: frames in, completions out. It does no I/O and is confined to one event loop.
///
/// The effects of a frame are only recorded, in ``StreamTable``, ``completions`` and ``notices``. The connection
/// handles them after `receive` or `serialise` has returned.
final class ClientSession: FrameSession {
    /// The effect of a frame, other than the end of a request.
    enum Notice {
        case settings(maxConcurrentStreams: UInt32?)
        case goAway(code: UInt32, lastStreamID: Int32, debugData: [UInt8])
        case pingAnswered
    }

    /// Longer response bodies are truncated. The gateways' longest have a few hundred bytes.
    static let maxBodySize = 64 * 1_024
    /// Several bodies of this size fit into a stream's initial window, so they need no WINDOW_UPDATE.
    private static let usualBody = 16 * 1_024
    /// Responses are tiny, but thousands arrive at once. Raised once to this size, the window never blocks the server.
    private static let receiveWindow = 16 * 1_024 * 1_024

    /// FCM's 100 streams fit, and APNs' 1,000 make the table grow. A child may have hundreds of connections to FCM:
    /// 2,048 slots for each would be a quarter of its memory.
    let streams = StreamTable(empty: StreamSlot(), capacity: 256)
    var completions: [HTTP2Completion] = []
    var notices: [Notice] = []
    /// The event loop's time, set before each read, in nanoseconds; for the latencies.
    var now: UInt64 = 0
    /// Whether this connection has brought a response.
    private(set) var hasAnswered = false
    /// The stream id of the next request.
    private(set) var nextStreamID: Int32 = 1
    /// No stream gets this id or a higher one.
    private let lastStreamID: Int32
    /// The last stream whose request has begun to be written. Requests are written in the order of their ids.
    private var lastWritten: Int32 = 0
    /// Bytes of open streams' bodies that are not serialised yet.
    private(set) var unsentBodyBytes = 0
    private var encoder = HeaderEncoder()
    /// The name of the header field that is unique to each request and that gateways echo.
    private var ownName: [UInt8] = []
    /// The server's stream limit from the SETTINGS frame that is being read.
    private var announcedLimit: UInt32?

    /// - Parameter lastStreamID: no stream is opened with this id or a higher one.
    init(lastStreamID: Int32 = .max) throws {
        self.lastStreamID = min(lastStreamID, .max - 1)
        try super.init(receiveWindow: Self.receiveWindow)
        say(FrameReader.preface)
        sendSettings([(Setting.enablePush, 0)])
        giveWindow(0, Self.receiveWindow - Self.usualWindow)
    }

    override var isIdle: Bool { streams.count == 0 }

    /// Opens a stream for a request.
    /// - Returns: false if no more streams can be opened on this connection.
    func submit(_ batch: HTTP2RequestBatch, index: Int32) -> Bool {
        guard goAwayReceived == nil, nextStreamID < lastStreamID else { return false }
        precondition(!batch.isLetGo, "a batch is submitted once: its memory is released once it is written")
        if ownName.isEmpty { ownName = batch.ownName }
        batch.setSentBodyLength(index, 0)
        unsentBodyBytes += batch.bodyLength(index)
        streams.insert(nextStreamID, StreamSlot(batch, index, submitted: now))
        enqueue(nextStreamID)
        nextStreamID += 2
        return true
    }

    override func writeHead(_ streamID: Int32, to buffer: inout ByteBuffer) -> BodyProgress {
        // A missing stream was cancelled before.
        guard let slot = streams.find(streamID), let batch = slot.pointee.value.batch else { return .over }
        slot.pointee.value.isWritten = true
        lastWritten = streamID
        let index = slot.pointee.value.requestIndex
        let isEmpty = batch.bodyLength(index) == 0
        encoder.append(batch, index, flags: isEmpty ? FrameHeader.endsStream : 0, streamID: streamID, to: &buffer)
        if isEmpty {
            slot.pointee.value.isBodyTaken = true
            batch.wasWritten()
            return .over
        }
        return write(slot, batch, streamID, to: &buffer, limit: .max)
    }

    override func writeBody(_ streamID: Int32, to buffer: inout ByteBuffer, limit: Int) -> BodyProgress {
        guard let slot = streams.find(streamID), let batch = slot.pointee.value.batch else { return .over }
        return write(slot, batch, streamID, to: &buffer, limit: limit)
    }

    @inline(__always)
    private func write(
        _ slot: UnsafeMutablePointer<StreamTable<StreamSlot>.Slot>,
        _ batch: HTTP2RequestBatch,
        _ streamID: Int32,
        to buffer: inout ByteBuffer,
        limit: Int
    ) -> BodyProgress {
        let index = slot.pointee.value.requestIndex
        let length = batch.bodyLength(index)
        let sent = batch.sentBodyLength(index)
        let taken = batch.withBody(index, from: sent) {
            write($0, of: streamID, isFirst: sent == 0, to: &buffer, limit: limit)
        }
        unsentBodyBytes -= taken
        batch.setSentBodyLength(index, sent + taken)
        guard sent + taken == length else { return .waits }
        slot.pointee.value.isBodyTaken = true
        batch.wasWritten()
        // The server answered early, and now has the whole body.
        if slot.pointee.value.isAnswered { finish(slot, errorCode: 0) }
        return .over
    }

    /// The streams whose requests were submitted before a moment and are unresolved.
    func submittedBefore(_ moment: UInt64) -> [Int32] {
        var found: [Int32] = []
        streams.forEachOldest(below: nextStreamID) { streamID, slot in
            guard slot.submitted < moment else { return false }
            found.append(streamID)
            return true
        }
        return found
    }

    /// Cancels a request: it is resolved at once, and its stream is reset with CANCEL at the next `serialise`.
    func cancel(_ streamID: Int32, cause: HTTP2Failure.Cause) {
        guard let slot = streams.find(streamID) else { return }
        let taken = remove(slot)
        if taken.isWritten { abandon(streamID, .cancel) }
        if taken.isAnswered {
            // The server answered early and never accepted the rest of the body: its response counts.
            completeWithResponse(taken)
        } else {
            completeWithout(taken, cause)
        }
    }

    /// Sends GOAWAY and ends the session.
    func goAway() { terminate(.noError, "") }

    /// Resolves every open stream because the connection is gone.
    func connectionLost() {
        for streamID in streams.openStreams() {
            guard let slot = streams.find(streamID) else { continue }
            finish(slot, errorCode: nil)
        }
    }

    private func remove(_ slot: UnsafeMutablePointer<StreamTable<StreamSlot>.Slot>) -> StreamSlot {
        forget(slot.pointee.streamID)
        let taken = streams.remove(slot)
        if !taken.isBodyTaken, let batch = taken.batch { unsentBodyBytes -= batch.unsentBodyLength(taken.requestIndex) }
        return taken
    }

    /// Resolves the request of a stream that ended.
    private func finish(_ slot: UnsafeMutablePointer<StreamTable<StreamSlot>.Slot>, errorCode: UInt32?) {
        let taken = remove(slot)
        if taken.isAnswered || (errorCode == 0 && taken.status >= 200) {
            completeWithResponse(taken)
        } else if errorCode == HTTP2ErrorCode.refusedStream.rawValue, taken.status == 0 {
            // A server that has begun to answer has processed the request, whatever its reset says.
            complete(taken, .unprocessed(HTTP2Failure(goAwayReceived != nil ? .goAway : .reset(.refusedStream))))
        } else {
            completeWithout(taken, errorCode.map { .reset(HTTP2ErrorCode(rawValue: $0)) } ?? .connectionClosed)
        }
    }

    /// Resolves a request without a response. It is ambiguous if any of its body was written; without the body no
    /// server can process it.
    private func completeWithout(_ slot: StreamSlot, _ cause: HTTP2Failure.Cause) {
        let hasBody = slot.isBodyTaken || (slot.batch?.sentBodyLength(slot.requestIndex) ?? 0) > 0
        let failure = HTTP2Failure(cause)
        complete(slot, slot.isWritten && hasBody ? .ambiguous(failure) : .unprocessed(failure))
    }

    private func completeWithResponse(_ slot: StreamSlot) {
        hasAnswered = true
        complete(slot, .response(slot.response))
    }

    private func complete(_ slot: StreamSlot, _ result: HTTP2Result) {
        guard let batch = slot.batch else { return }
        let latency = slot.isWritten ? (now &- slot.submitted) / 1_000 : 0
        completions.append(
            HTTP2Completion(
                batch: batch,
                index: slot.requestIndex,
                latencyMicroseconds: UInt32(truncatingIfNeeded: latency),
                result: result
            )
        )
    }

    // MARK: What frames mean

    override func hasBegun(_ streamID: Int32) -> Bool { streamID % 2 == 1 && streamID <= lastWritten }

    override func hasBody(_ streamID: Int32) -> Bool {
        streams.find(streamID).map { !$0.pointee.value.isBodyTaken } ?? false
    }

    override func headersReceived(_ streamID: Int32, ends: Bool, _ block: UnsafeRawBufferPointer) throws {
        guard hasBegun(streamID) else {
            throw ConnectionError(.protocolError, "HEADERS on a stream that was never opened")
        }
        guard let slot = streams.find(streamID), !slot.pointee.value.isAnswered else {
            try expectLateAnswer(streamID)
            // The response to a cancelled request. Its fields must be read, because they update the header table.
            return try fields.read(block) { _, _ in }
        }
        let isTrailer = slot.pointee.value.status >= 200
        var check = FieldCheck(isRequest: false, isTrailer: isTrailer)
        try fields.read(block) { name, value in
            if check.take(name, value) { note(slot, name, value) }
        }
        check.end()
        let isInformational = !isTrailer && slot.pointee.value.status < 200
        guard !check.isMalformed else { return fail(streamID, .protocolError, check.fault) }
        guard ends || !isTrailer else { return fail(streamID, .protocolError, "trailers that do not end the stream") }
        guard !(ends && isInformational) else { return fail(streamID, .protocolError, "an end without a response") }
        if !isTrailer, !isInformational, let length = check.length { slot.pointee.value.announce(length) }
        if ends { answered(slot) }
    }

    /// Handles a frame on a stream whose response is complete, or that has ended.
    private func expectLateAnswer(_ streamID: Int32) throws {
        // The server may have begun to answer before its GOAWAY excluded the stream.
        if let last = goAwayReceived, streamID > last { return }
        try expectLate(streamID)
    }

    private func note(
        _ slot: UnsafeMutablePointer<StreamTable<StreamSlot>.Slot>,
        _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>
    ) {
        // Only `:status`, `retry-after` and the request's own field are needed; the length rules out most others.
        if name.count == 7, name[0] == UInt8(ascii: ":") {
            slot.pointee.value.status = value.reduce(0) { $0 &* 10 &+ Int16($1 &- UInt8(ascii: "0")) }
        } else if name.count == 11, name.elementsEqual("retry-after".utf8) {
            slot.pointee.value.keepRetryAfter(value)
        } else if let batch = slot.pointee.value.batch {
            if slot.pointee.value.isOwn(value), name.elementsEqual(ownName) {
                slot.pointee.value.echoesRequest = true
            } else if batch.keepsAnswerFields(slot.pointee.value.requestIndex) {
                slot.pointee.value.keep(name, value)
            }
        }
    }

    override func dataReceived(_ streamID: Int32, ends: Bool, _ data: UnsafeRawBufferPointer, window: Int) throws {
        guard let slot = streams.find(streamID), !slot.pointee.value.isAnswered else {
            return try expectLateAnswer(streamID)
        }
        guard slot.pointee.value.status >= 200 else {
            return fail(streamID, .protocolError, "a body without a status")
        }
        if slot.pointee.value.announcedLength == StreamSlot.longLength { slot.pointee.value.count(data.count) }
        let room = max(0, Self.maxBodySize - slot.pointee.value.body.count)
        let taken = UnsafeRawBufferPointer(rebasing: data.prefix(room))
        if slot.pointee.value.body.isEmpty {
            slot.pointee.value.body = Array(taken)
        } else {
            slot.pointee.value.body.append(contentsOf: taken)
        }
        if ends {
            answered(slot)
        } else if window > data.count || window > 0 && slot.pointee.value.body.count > Self.usualBody {
            giveWindow(streamID, window)
        }
    }

    /// The response is complete. If the request is too, the stream ends.
    private func answered(_ slot: UnsafeMutablePointer<StreamTable<StreamSlot>.Slot>) {
        // A response that never has a body may still have a content-length (RFC 9110, section 8.6).
        if slot.pointee.value.announcedLength != StreamSlot.noLength, !slot.pointee.value.hasAnnouncedLength,
            slot.pointee.value.status != 204, slot.pointee.value.status != 304
        {
            return fail(slot.pointee.streamID, .protocolError, "a body that differs in length from its content-length")
        }
        slot.pointee.value.isAnswered = true
        if slot.pointee.value.isBodyTaken { finish(slot, errorCode: 0) }
    }

    override func resetReceived(_ streamID: Int32, _ code: UInt32) throws {
        if let slot = streams.find(streamID) { finish(slot, errorCode: code) }
    }

    override func isOpen(_ streamID: Int32) -> Bool { streams.find(streamID) != nil }

    override func streamFailed(_ streamID: Int32, _ what: StaticString) {
        guard let slot = streams.find(streamID) else { return }
        let taken = remove(slot)
        if taken.isAnswered { completeWithResponse(taken) } else { completeWithout(taken, .malformed("\(what)")) }
    }

    override func settingReceived(_ id: UInt16, _ value: UInt32) throws {
        switch id {
        case Setting.maxConcurrentStreams: announcedLimit = value
        case Setting.headerTableSize: encoder.limitTable(Int(value))
        case Setting.enablePush where value != 0:
            throw ConnectionError(.protocolError, "a server must not enable push")
        default: break
        }
    }

    override func settingsReceived() { notices.append(.settings(maxConcurrentStreams: announcedLimit.take())) }

    override func pingAnswered() { notices.append(.pingAnswered) }

    override func goAwayReceived(_ code: UInt32, _ last: Int32, _ debugData: UnsafeRawBufferPointer) throws {
        notices.append(.goAway(code: code, lastStreamID: last, debugData: Array(debugData.prefix(4_096))))
        for streamID in streams.openStreams() {
            guard let slot = streams.find(streamID), streamID > last || !slot.pointee.value.isWritten else { continue }
            finish(slot, errorCode: HTTP2ErrorCode.refusedStream.rawValue)
        }
    }
}

/// The state of an open stream.
///
/// With its id it fits into one cache line of the processor. Thousands of streams wait for their responses, so a stream
/// is no longer in the cache when its response comes.
struct StreamSlot {
    /// Fields that few responses have.
    final class RareFields {
        var retryAfter: String?
        /// The announced length of a long body, minus the bytes received.
        var missingLength = 0
        /// See ``HTTP2Response/otherFields``.
        var others: [HTTP2HeaderField]?
    }

    var requestIndex: Int32 = 0
    var status: Int16 = 0
    private let ownLength: UInt16
    var batch: HTTP2RequestBatch?
    /// When the request was submitted, in nanoseconds of the event loop's clock.
    var submitted: UInt64 = 0
    /// The hash of the value of the request's own header field; the value is released once its whole batch is written.
    private let ownHash: UInt64
    var body: [UInt8] = []
    private var rare: RareFields?
    /// Whether the request's HEADERS frame is serialised; from then on the server may have seen it.
    var isWritten = false
    /// Whether the response is complete, whatever happens to the stream afterwards.
    var isAnswered = false
    /// See ``HTTP2Response/echoesRequest``.
    var echoesRequest = false
    /// Whether the whole body is serialised.
    var isBodyTaken = false
    /// The announced length of the response's body.
    private(set) var announcedLength = Self.noLength
    static let noLength = UInt16.max
    /// Marks a length that does not fit here; `missingLength` is counted down instead.
    static let longLength = UInt16.max - 1

    init() {
        ownHash = 0
        ownLength = 0
    }

    init(_ batch: HTTP2RequestBatch, _ index: Int32, submitted: UInt64) {
        self.batch = batch
        requestIndex = index
        self.submitted = submitted
        let own = batch.ownValue(index)
        ownHash = Self.hash(own)
        // A longer value is never found in a response, so the response does not count as an echo.
        ownLength = UInt16(exactly: own.count) ?? 0
    }

    /// The response; valid once it is complete.
    var response: HTTP2Response {
        HTTP2Response(
            status: status,
            retryAfter: rare?.retryAfter,
            body: body,
            echoesRequest: echoesRequest,
            otherFields: rare?.others
        )
    }

    /// Whether this is the value of the request's own header field. Case is ignored, because identifiers are written in
    /// both.
    @inline(__always)
    func isOwn(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        value.count == ownLength && ownLength > 0 && Self.hash(UnsafeRawBufferPointer(value)) == ownHash
    }

    /// A hash that ignores the case of letters. Other texts of the same length hardly ever have the same one.
    private static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0
        var position = 0
        while position < text.count {
            var word: UInt64 = 0
            let length = min(8, text.count - position)
            withUnsafeMutableBytes(of: &word) {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: text[position..<(position + length)]))
            }
            // Multiplies by 2^64 divided by the golden ratio, twice. A product moves bits upwards; the shift brings
            // them back.
            hash = (hash ^ lowercase(word)) &* 0x9E37_79B9_7F4A_7C15
            hash = (hash ^ hash >> 32) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
            position += length
        }
        return hash
    }

    /// Lowercases A to Z in eight bytes at once. Adding a constant to the low seven bits of each byte sets its eighth
    /// if they reach a bound.
    private static func lowercase(_ word: UInt64) -> UInt64 {
        let each: UInt64 = 0x0101_0101_0101_0101
        let high = each &* 0x80
        let low = word & ~high
        let isFromA = low &+ each &* UInt64(0x80 - UInt8(ascii: "A"))
        let isAfterZ = low &+ each &* UInt64(0x7F - UInt8(ascii: "Z"))
        let isUpper = (isFromA ^ isAfterZ) & ~word & high
        return word | isUpper >> 2
    }

    /// Whether the body has the announced length.
    var hasAnnouncedLength: Bool {
        announcedLength == Self.longLength ? rare?.missingLength == 0 : Int(announcedLength) == body.count
    }

    /// Notes the announced length of the body.
    mutating func announce(_ length: Int) {
        announcedLength = length < Int(Self.longLength) ? UInt16(length) : Self.longLength
        if announcedLength == Self.longLength { rareFields().missingLength = length }
    }

    /// Notes that this many bytes of a long body have arrived.
    func count(_ bytes: Int) { rare?.missingLength -= bytes }

    /// The maximum number of other fields that are kept. Gateways send about ten; the excess of any other server is
    /// dropped.
    private static let maxOtherFields = 32
    private static let maxFieldLength = 512

    /// Keeps a header field that is only shown to users.
    mutating func keep(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        let rare = rareFields()
        guard (rare.others?.count ?? 0) < Self.maxOtherFields else { return }
        let field = HTTP2HeaderField(
            String(decoding: name.prefix(Self.maxFieldLength), as: UTF8.self),
            String(decoding: value.prefix(Self.maxFieldLength), as: UTF8.self)
        )
        rare.others = (rare.others ?? []) + [field]
    }

    /// Keeps the server's `retry-after` value.
    mutating func keepRetryAfter(_ value: UnsafeBufferPointer<UInt8>) {
        rareFields().retryAfter = String(decoding: value.prefix(64), as: UTF8.self)
    }

    private mutating func rareFields() -> RareFields {
        let fields = rare ?? RareFields()
        rare = fields
        return fields
    }
}
