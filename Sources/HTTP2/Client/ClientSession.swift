import CNGHTTP2
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A client-side nghttp2 session: frames in, completions out; it does no I/O and lives on one event loop.
///
/// nghttp2's callbacks only note what happened, in ``StreamTable``, ``completions`` and ``notices``; the connection handles
/// that after `receive` or `serialise` has returned, because a callback that changed the connection's state while nghttp2 is
/// inside it would trip Swift's exclusivity check.
///
/// nghttp2 keeps the streams, their windows and the order of frames. The requests' header blocks are ``HeaderEncoder``'s, which puts them
/// in the place of nghttp2's when the frames leave: in that order the server reads them.
final class ClientSession: CallbackOwner {
    /// What a frame told, apart from the ends of requests.
    enum Notice {
        case settings(maxConcurrentStreams: UInt32?)
        case goAway(code: UInt32, lastStreamID: Int32, debugData: [UInt8])
        case pingAnswered
    }

    /// A response body above this is cut: the gateways' longest answers have a few hundred bytes.
    static let largestBody = 64 * 1_024

    private var session: OpaquePointer?
    private let memory = session_memory_new()
    /// FCM's 100 streams fit, and APNs' 1,000 make it grow: a child may have hundreds of connections to FCM, and 2,048 slots of each would
    /// be a quarter of its memory.
    let streams = StreamTable(empty: StreamSlot(), capacity: 256)
    var completions: [HTTP2Completion] = []
    var notices: [Notice] = []
    /// Taken from the event loop's clock before each read, for the latencies.
    var now: UInt64 = 0
    /// An answer came on this connection.
    private(set) var hasAnswered = false
    /// Why nghttp2 has ended the connection from our side, if it has.
    private(set) var ownGoAway: String?
    private var goAwayReceived = false
    /// Body bytes of open streams that nghttp2 has not taken yet.
    private(set) var unsentBodyBytes = 0
    private var encoder = HeaderEncoder()
    /// The name of the field that only one request has, and that gateways give back.
    private var ownName: [UInt8] = []

    init(initialMaxConcurrentStreams: Int) throws {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        guard memory != nil, nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&option) == 0 else {
            throw SessionError(code: Int32(NGHTTP2_ERR_NOMEM.rawValue))
        }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(option)
        }
        nghttp2_option_set_peer_max_concurrent_streams(option, UInt32(initialMaxConcurrentStreams))
        Self.install(callbacks)
        var functions = session_memory_functions(memory)
        let owner = Unmanaged.passUnretained(self).toOpaque()
        let code = nghttp2_session_client_new3(&session, callbacks, owner, option, &functions)
        guard code == 0 else { throw SessionError(code: code) }
        var settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, settings.count)
        // Answers are tiny, but thousands come at once: one raise, and no WINDOW_UPDATE is ever waited for.
        nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 16 * 1_024 * 1_024)
    }

    deinit {
        nghttp2_session_del(session)
        session_memory_delete(memory)
    }

    /// The id that the next request's stream would get.
    var nextStreamID: Int32 {
        let next = nghttp2_session_get_next_stream_id(session)
        return next > UInt32(Int32.max) ? .max : Int32(next)
    }

    /// nghttp2 has neither anything to send nor anything to expect: the connection may be closed.
    var isFinished: Bool {
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    /// Bytes of bodies that the server takes now, for all streams together.
    var sendWindow: Int {
        Int(nghttp2_session_get_remote_window_size(session))
    }

    /// Opens a stream for a request.
    /// - Returns: false if nghttp2 opens no more streams on this connection.
    func submit(_ batch: HTTP2RequestBatch, index: Int32) -> Bool {
        if ownName.isEmpty { ownName = batch.ownName }
        let body = batch.arena + batch.entries[Int(index)].body
        body.storeBytes(of: 0, toByteOffset: 4, as: UInt32.self)
        var provider = nghttp2_data_provider(source: nghttp2_data_source(ptr: body), read_callback: Self.readBody)
        let streamID = nghttp2_submit_request(session, nil, Self.method, 1, &provider, nil)
        guard streamID > 0 else { return false }
        unsentBodyBytes += batch.bodyLength(index)
        streams.insert(streamID, StreamSlot(batch, index, submitted: now))
        return true
    }

    /// Feeds bytes from the peer.
    func receive(_ bytes: UnsafeRawBufferPointer) throws {
        let read = nghttp2_session_mem_recv(
            session,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            bytes.count
        )
        guard read >= 0 else { throw SessionError(code: Int32(read)) }
    }

    /// Appends what is ready to be sent to a buffer, until nothing is left or the buffer has `limit` bytes.
    /// - Returns: whether there may be more.
    func serialise(into buffer: inout ByteBuffer, limit: Int) throws -> Bool {
        while buffer.readableBytes < limit {
            var data: UnsafePointer<UInt8>?
            let length = nghttp2_session_mem_send(session, &data)
            guard length >= 0 else { throw SessionError(code: Int32(length)) }
            guard length > 0, let data else { return false }
            if data[3] == UInt8(NGHTTP2_HEADERS.rawValue) {
                try writeHeaders(UnsafeRawBufferPointer(start: data, count: length), to: &buffer)
            } else {
                buffer.writeBytes(UnsafeRawBufferPointer(start: data, count: length))
            }
        }
        return true
    }

    /// Writes a request's header block where nghttp2 has opened the stream with a block that stands for it.
    private func writeHeaders(_ frame: UnsafeRawBufferPointer, to buffer: inout ByteBuffer) throws {
        let streamID = FrameHeader.streamID(frame)
        guard let slot = streams.find(Int32(bitPattern: streamID)), let batch = slot.pointee.value.batch
        else { throw SessionError(code: Int32(NGHTTP2_ERR_INVALID_STATE.rawValue)) }
        let index = slot.pointee.value.requestIndex
        let flags = try FrameHeader.flagsOfWhole(frame)
        encoder.append(batch, index, flags: flags, streamID: streamID, to: &buffer)
    }

    /// The streams whose requests were submitted before a moment and are not resolved.
    func submittedBefore(_ moment: UInt64) -> [Int32] {
        var found: [Int32] = []
        streams.forEachOldest(below: nextStreamID) { streamID, slot in
            guard slot.submitted < moment else { return false }
            if !slot.isCancelled { found.append(streamID) }
            return true
        }
        return found
    }

    func ping() {
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Gives up a request: it is resolved at once and its stream is reset with CANCEL at the next `serialise`.
    func cancel(_ streamID: Int32, cause: HTTP2Failure.Cause) {
        guard let slot = streams.find(streamID), !slot.pointee.value.isCancelled else { return }
        slot.pointee.value.isCancelled = true
        if slot.pointee.value.isAnswered {
            // The server answered early and never took the rest of the body: its answer counts.
            completeWithResponse(slot.pointee.value)
        } else {
            let failure = HTTP2Failure(cause)
            complete(slot.pointee.value, slot.pointee.value.isWritten ? .ambiguous(failure) : .unprocessed(failure))
        }
        nghttp2_submit_rst_stream(
            session,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            streamID,
            HTTP2ErrorCode.cancel.rawValue
        )
    }

    /// Sends GOAWAY: no new streams, then the end of the connection.
    func goAway() {
        nghttp2_session_terminate_session(session, HTTP2ErrorCode.noError.rawValue)
    }

    /// Resolves every open stream because the connection is gone.
    func connectionLost() {
        for streamID in streams.openStreams() {
            guard let slot = streams.find(streamID) else { continue }
            finish(slot, errorCode: nil)
        }
    }

    /// Copies the next piece of a body, and counts it.
    private static let readBody: nghttp2_data_source_read_callback = { session, id, target, room, flags, source, user in
        let piece = readArenaBody(session, id, target, room, flags, source, user)
        if piece >= 0, let user, let flags {
            Unmanaged<ClientSession>.fromOpaque(user)._withUnsafeGuaranteedRef { session in
                session.unsentBodyBytes -= piece
                guard flags.pointee & UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) != 0 else { return }
                session.streams.find(id)?.pointee.value.isBodyTaken = true
            }
        }
        return piece
    }

    /// The one field that nghttp2 is told of: it asks for the method to know whether answers have bodies. Immutable, hence safe to share,
    /// and it lives as long as the process.
    nonisolated(unsafe) private static let method: UnsafeMutablePointer<nghttp2_nv> = {
        let text = UnsafeMutablePointer<UInt8>.allocate(capacity: 11)
        for (position, byte) in ":methodPOST".utf8.enumerated() { text[position] = byte }
        let field = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: 1)
        let noCopy = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
        field.initialize(to: nghttp2_nv(name: text, value: text + 7, namelen: 7, valuelen: 4, flags: noCopy))
        return field
    }()

    /// A stream ended: what that means for its request.
    func finish(_ slot: UnsafeMutablePointer<StreamTable<StreamSlot>.Slot>, errorCode: UInt32?) {
        let taken = streams.remove(slot)
        if !taken.isBodyTaken, let batch = taken.batch { unsentBodyBytes -= batch.unsentBodyLength(taken.requestIndex) }
        if taken.isCancelled { return }
        if taken.isAnswered || (errorCode == 0 && taken.status >= 200) {
            completeWithResponse(taken)
        } else if errorCode == HTTP2ErrorCode.refusedStream.rawValue, taken.status == 0 {
            // A server that has begun to answer has processed the request, whatever it says afterwards.
            complete(taken, .unprocessed(HTTP2Failure(goAwayReceived ? .goAway : .reset(.refusedStream))))
        } else {
            let cause = errorCode.map { HTTP2Failure.Cause.reset(HTTP2ErrorCode(rawValue: $0)) } ?? .connectionClosed
            complete(taken, taken.isWritten ? .ambiguous(HTTP2Failure(cause)) : .unprocessed(HTTP2Failure(cause)))
        }
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

    func noteGoAway(_ frame: nghttp2_goaway) {
        goAwayReceived = true
        let data = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
        notices.append(
            .goAway(code: frame.error_code, lastStreamID: frame.last_stream_id, debugData: Array(data.prefix(4_096)))
        )
    }

    func noteOwnGoAway(_ frame: nghttp2_goaway) {
        let text = String(
            decoding: UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len),
            as: UTF8.self
        )
        ownGoAway = "\(HTTP2ErrorCode(rawValue: frame.error_code))" + (text.isEmpty ? "" : ", \(text)")
    }

    func noteSettings(_ frame: nghttp2_settings) {
        var limit: UInt32?
        for position in 0..<frame.niv {
            let entry = frame.iv[position]
            switch UInt32(entry.settings_id) {
            case NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue: limit = entry.value
            case NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue: encoder.limitTable(Int(entry.value))
            default: break
            }
        }
        notices.append(.settings(maxConcurrentStreams: limit))
    }

    func noteHeader(_ streamID: Int32, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let slot = streams.find(streamID) else { return }
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
}

extension ClientSession {
    static func install(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _,
            frame,
            name,
            nameLength,
            value,
            valueLength,
            _,
            user in
            guard let frame else { return 0 }
            let name = UnsafeBufferPointer(start: name, count: nameLength)
            let value = UnsafeBufferPointer(start: value, count: valueLength)
            return ClientSession.with(user) { $0.noteHeader(frame.pointee.hd.stream_id, name, value) }
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, streamID, data, length, user in
            ClientSession.with(user) { $0.noteBody(streamID, UnsafeBufferPointer(start: data, count: length)) }
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, streamID, errorCode, user in
            ClientSession.with(user) { session in
                if let slot = session.streams.find(streamID) { session.finish(slot, errorCode: errorCode) }
            }
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame else { return 0 }
            return ClientSession.with(user) { $0.note(frame.pointee) }
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame else { return 0 }
            return ClientSession.with(user) { $0.noteSent(frame.pointee) }
        }
    }

    private func noteBody(_ streamID: Int32, _ data: UnsafeBufferPointer<UInt8>) {
        guard let slot = streams.find(streamID) else { return }
        let room = max(0, Self.largestBody - slot.pointee.value.body.count)
        slot.pointee.value.body.append(contentsOf: data.prefix(room))
    }

    private func noteSent(_ frame: nghttp2_frame) {
        if frame.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) {
            streams.find(frame.hd.stream_id)?.pointee.value.isWritten = true
        } else if frame.hd.type == UInt8(NGHTTP2_GOAWAY.rawValue) {
            noteOwnGoAway(frame.goaway)
        }
    }

    private func note(_ frame: nghttp2_frame) {
        switch UInt32(frame.hd.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
            streams.find(frame.hd.stream_id)?.pointee.value.isAnswered = true
        case NGHTTP2_SETTINGS.rawValue where frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0:
            noteSettings(frame.settings)
        case NGHTTP2_GOAWAY.rawValue:
            noteGoAway(frame.goaway)
        case NGHTTP2_PING.rawValue where frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0:
            notices.append(.pingAnswered)
        default:
            break
        }
    }
}

extension ClientSession {
    /// nghttp2's own name for a connection-level error, as a text.
    struct SessionError: Error, CustomStringConvertible {
        var code: Int32
        var description: String { String(cString: nghttp2_strerror(code)) }
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
        /// See ``HTTP2Response/otherFields``.
        var others: [HTTP2HeaderField]?
    }

    var requestIndex: Int32 = 0
    var status: Int16 = 0
    private let ownLength: UInt16
    var batch: HTTP2RequestBatch?
    /// When the request was handed to nghttp2, in nanoseconds of the event loop's clock.
    var submitted: UInt64 = 0
    /// Stands for the value of the request's own header field: the value itself is in the batch's memory.
    private let ownHash: UInt64
    var body: [UInt8] = []
    private var rare: RareFields?
    /// The request's HEADERS frame has been serialised: from now on the server may have seen it.
    var isWritten = false
    /// The response is complete, whatever happens to the stream afterwards.
    var isAnswered = false
    /// The request was given up and resolved; the slot keeps its batch's memory until nghttp2 has closed the stream.
    var isCancelled = false
    /// See ``HTTP2Response/echoesRequest``.
    var echoesRequest = false
    /// nghttp2 has taken the whole body.
    var isBodyTaken = false

    /// No stream.
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
