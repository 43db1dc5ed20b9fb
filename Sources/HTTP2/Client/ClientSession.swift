import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The client's side of a connection: frames in, completions out; it does no I/O and lives on one event loop.
///
/// What a frame tells is only noted, in ``StreamTable``, ``completions`` and ``notices``; the connection handles that after `receive` or
/// `serialise` has returned.
final class ClientSession: FrameSession {
    /// What a frame told, apart from the ends of requests.
    enum Notice {
        case settings(maxConcurrentStreams: UInt32?)
        case goAway(code: UInt32, lastStreamID: Int32, debugData: [UInt8])
        case pingAnswered
    }

    /// A response body above this is cut: the gateways' longest answers have a few hundred bytes.
    static let largestBody = 64 * 1_024
    /// A body of this size fits into a stream's first window several times, so that its room need not be given anew.
    private static let usualBody = 16 * 1_024
    /// Answers are tiny, but thousands come at once: one raise, and no WINDOW_UPDATE is ever waited for.
    private static let receiveWindow = 16 * 1_024 * 1_024

    /// FCM's 100 streams fit, and APNs' 1,000 make it grow: a child may have hundreds of connections to FCM, and 2,048 slots of each would
    /// be a quarter of its memory.
    let streams = StreamTable(empty: StreamSlot(), capacity: 256)
    var completions: [HTTP2Completion] = []
    var notices: [Notice] = []
    /// Taken from the event loop's clock before each read, for the latencies.
    var now: UInt64 = 0
    /// An answer came on this connection.
    private(set) var hasAnswered = false
    /// The id that the next request's stream gets.
    private(set) var nextStreamID: Int32 = 1
    /// The stream whose request was begun to be written last; they leave in the order of their ids.
    private var lastWritten: Int32 = 0
    /// Bytes of bodies of open streams that were not serialised yet.
    private(set) var unsentBodyBytes = 0
    private var encoder = HeaderEncoder()
    /// The name of the field that only one request has, and that gateways give back.
    private var ownName: [UInt8] = []
    /// The server's limit of streams, from the SETTINGS frame that is being read.
    private var announcedLimit: UInt32?

    init() throws {
        try super.init(receiveWindow: Self.receiveWindow)
        say(FrameReader.preface)
        sendSettings([(Setting.enablePush, 0)])
        giveWindow(0, Self.receiveWindow - Self.usualWindow)
    }

    override var isIdle: Bool { streams.count == 0 }

    /// Opens a stream for a request.
    /// - Returns: false if no more streams can be opened on this connection.
    func submit(_ batch: HTTP2RequestBatch, index: Int32) -> Bool {
        guard goAwayReceived == nil, nextStreamID < .max - 1 else { return false }
        precondition(!batch.isLetGo, "a batch is submitted once: what has been written is gone")
        if ownName.isEmpty { ownName = batch.ownName }
        batch.setSentBodyLength(index, 0)
        unsentBodyBytes += batch.bodyLength(index)
        streams.insert(nextStreamID, StreamSlot(batch, index, submitted: now))
        enqueue(nextStreamID)
        nextStreamID += 2
        return true
    }

    override func writeHead(_ streamID: Int32, to buffer: inout ByteBuffer) -> BodyProgress {
        // One that is gone was given up before.
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
        // The server answered early, and now it has all that it was promised.
        if slot.pointee.value.isAnswered { finish(slot, errorCode: 0) }
        return .over
    }

    /// The streams whose requests were submitted before a moment and are not resolved.
    func submittedBefore(_ moment: UInt64) -> [Int32] {
        var found: [Int32] = []
        streams.forEachOldest(below: nextStreamID) { streamID, slot in
            guard slot.submitted < moment else { return false }
            found.append(streamID)
            return true
        }
        return found
    }

    /// Gives up a request: it is resolved at once and its stream is reset with CANCEL at the next `serialise`.
    func cancel(_ streamID: Int32, cause: HTTP2Failure.Cause) {
        guard let slot = streams.find(streamID) else { return }
        let taken = remove(slot)
        if taken.isWritten { abandon(streamID, .cancel) }
        if taken.isAnswered {
            // The server answered early and never took the rest of the body: its answer counts.
            completeWithResponse(taken)
        } else {
            completeWithout(taken, cause)
        }
    }

    /// Sends GOAWAY: no new streams, then the end of the connection.
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

    /// A stream ended: what that means for its request.
    private func finish(_ slot: UnsafeMutablePointer<StreamTable<StreamSlot>.Slot>, errorCode: UInt32?) {
        let taken = remove(slot)
        if taken.isAnswered || (errorCode == 0 && taken.status >= 200) {
            completeWithResponse(taken)
        } else if errorCode == HTTP2ErrorCode.refusedStream.rawValue, taken.status == 0 {
            // A server that has begun to answer has processed the request, whatever it says afterwards.
            complete(taken, .unprocessed(HTTP2Failure(goAwayReceived != nil ? .goAway : .reset(.refusedStream))))
        } else {
            completeWithout(taken, errorCode.map { .reset(HTTP2ErrorCode(rawValue: $0)) } ?? .connectionClosed)
        }
    }

    /// A request has no answer: ambiguous if anything of its body left. Of a head alone no server can do what was asked.
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
            // The answer to a request that was given up; the table has to know its fields all the same.
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
        guard ends || !isTrailer else { return fail(streamID, .protocolError, "trailers that do not end it") }
        guard !(ends && isInformational) else { return fail(streamID, .protocolError, "an end without an answer") }
        if !isTrailer, !isInformational, let length = check.length { slot.pointee.value.announce(length) }
        if ends { answered(slot) }
    }

    /// A frame came for a stream whose answer is whole, or that is gone.
    private func expectLateAnswer(_ streamID: Int32) throws {
        // What a GOAWAY gave back may have been begun before.
        if let last = goAwayReceived, streamID > last { return }
        try expectLate(streamID)
    }

    private func note(
        _ slot: UnsafeMutablePointer<StreamTable<StreamSlot>.Slot>,
        _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>
    ) {
        // `:status`, `retry-after` and the request's own field are all that the answers need; the length tells most others apart.
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
        let room = max(0, Self.largestBody - slot.pointee.value.body.count)
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

    /// The answer is complete, which ends the stream if the request is.
    private func answered(_ slot: UnsafeMutablePointer<StreamTable<StreamSlot>.Slot>) {
        // An answer that never has a body may name a length that it does not have (RFC 9110, section 8.6).
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
            throw ConnectionError(.protocolError, "a server that wants to be pushed to")
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

/// What a connection remembers of one open stream.
///
/// With its id it fits into one line of the processor's cache: thousands of streams wait for their answers, so nothing of one is there any
/// more when its answer comes.
struct StreamSlot {
    /// What few answers have.
    final class RareFields {
        var retryAfter: String?
        /// A long body's announced length, less what has come of it.
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
    /// Stands for the value of the request's own header field: the value itself is gone when all of its batch is written.
    private let ownHash: UInt64
    var body: [UInt8] = []
    private var rare: RareFields?
    /// The request's HEADERS frame has been serialised: from now on the server may have seen it.
    var isWritten = false
    /// The response is complete, whatever happens to the stream afterwards.
    var isAnswered = false
    /// See ``HTTP2Response/echoesRequest``.
    var echoesRequest = false
    /// The whole body has been serialised.
    var isBodyTaken = false
    /// The length that the answer's body is to have, if it was announced.
    private(set) var announcedLength = Self.noLength
    static let noLength = UInt16.max
    /// One that has no room here, or is that of a body that is cut: it is counted down.
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
        // A longer one is never found in an answer, which only means that the answer is not taken for an echo.
        ownLength = UInt16(exactly: own.count) ?? 0
    }

    /// The response, once it is complete.
    var response: HTTP2Response {
        HTTP2Response(
            status: status,
            retryAfter: rare?.retryAfter,
            body: body,
            echoesRequest: echoesRequest,
            otherFields: rare?.others
        )
    }

    /// Whether it is the value of the request's own header field; letters' case aside, as identifiers are written in both.
    @inline(__always)
    func isOwn(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        value.count == ownLength && ownLength > 0 && Self.hash(UnsafeRawBufferPointer(value)) == ownHash
    }

    /// The same for texts of one length that differ in the case of letters only; for others hardly ever.
    private static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0
        var position = 0
        while position < text.count {
            var word: UInt64 = 0
            let length = min(8, text.count - position)
            withUnsafeMutableBytes(of: &word) {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: text[position..<(position + length)]))
            }
            // 2^64 divided by the golden ratio, twice: bits move upwards in a product, and the shift takes them back.
            hash = (hash ^ lowercase(word)) &* 0x9E37_79B9_7F4A_7C15
            hash = (hash ^ hash >> 32) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
            position += length
        }
        return hash
    }

    /// Eight bytes with A to Z as a to z, all at once: adding to seven bits of each says in the eighth whether they pass a bound.
    private static func lowercase(_ word: UInt64) -> UInt64 {
        let each: UInt64 = 0x0101_0101_0101_0101
        let high = each &* 0x80
        let low = word & ~high
        let isFromA = low &+ each &* UInt64(0x80 - UInt8(ascii: "A"))
        let isAfterZ = low &+ each &* UInt64(0x7F - UInt8(ascii: "Z"))
        let isUpper = (isFromA ^ isAfterZ) & ~word & high
        return word | isUpper >> 2
    }

    /// Whether the body has the announced length, if one was.
    var hasAnnouncedLength: Bool {
        announcedLength == Self.longLength ? rare?.missingLength == 0 : Int(announcedLength) == body.count
    }

    /// Notes how long the body is to be.
    mutating func announce(_ length: Int) {
        announcedLength = length < Int(Self.longLength) ? UInt16(length) : Self.longLength
        if announcedLength == Self.longLength { rareFields().missingLength = length }
    }

    /// Notes that so much of a long body has come.
    func count(_ bytes: Int) { rare?.missingLength -= bytes }

    /// Gateways send about ten; what has more, or longer ones, is somebody else's and is cut.
    private static let mostOtherFields = 32
    private static let longestField = 512

    /// Keeps a header field that only people ask for.
    mutating func keep(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        let rare = rareFields()
        guard (rare.others?.count ?? 0) < Self.mostOtherFields else { return }
        let field = HTTP2HeaderField(
            String(decoding: name.prefix(Self.longestField), as: UTF8.self),
            String(decoding: value.prefix(Self.longestField), as: UTF8.self)
        )
        rare.others = (rare.others ?? []) + [field]
    }

    /// Keeps what the server says about when to try again.
    mutating func keepRetryAfter(_ value: UnsafeBufferPointer<UInt8>) {
        rareFields().retryAfter = String(decoding: value.prefix(64), as: UTF8.self)
    }

    private mutating func rareFields() -> RareFields {
        let fields = rare ?? RareFields()
        rare = fields
        return fields
    }
}
