import CNGHTTP2
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A server-side nghttp2 session: frames in, complete requests out; it does no I/O and lives on one event loop.
final class ServerSession: CallbackOwner {
    private var session: OpaquePointer?
    private let memory = session_memory_new()
    private let settings: HTTP2ServerSettings
    let streams = StreamTable(empty: ServerStream(), capacity: 2_048)
    /// Requests that became complete since the owner last took them.
    var requests: [HTTP2ServerRequest] = []
    /// Requests that are over, whose memory the next ones take.
    private var spare: [HTTP2ServerRequest] = []
    /// The stream that was closed last, with its answer: nghttp2 closes one before it hands over the frame that ends it.
    private var ended: (streamID: Int32, answer: ServerStream.Answer?) = (0, nil)

    /// Streams that a client may reset at once, and in a second. nghttp2's own 1,000 and 33 are for servers in the open: a sender that
    /// gives up all that it has on the wire would lose the connection with it.
    private static let streamResets: UInt64 = 1_000_000
    /// Enough for most reads; with usual requests, of a kilobyte, these are 256 KiB a connection…
    private static let mostSpare = 256
    /// …and 512 KiB at most.
    private static let largestSpare = 2 * 1_024

    init(settings: HTTP2ServerSettings) throws {
        self.settings = settings
        var callbacks: OpaquePointer?
        guard memory != nil, nghttp2_session_callbacks_new(&callbacks) == 0 else {
            throw ClientSession.SessionError(code: Int32(NGHTTP2_ERR_NOMEM.rawValue))
        }
        defer { nghttp2_session_callbacks_del(callbacks) }
        Self.install(callbacks)
        var options: OpaquePointer?
        guard nghttp2_option_new(&options) == 0 else {
            throw ClientSession.SessionError(code: Int32(NGHTTP2_ERR_NOMEM.rawValue))
        }
        defer { nghttp2_option_del(options) }
        nghttp2_option_set_stream_reset_rate_limit(options, Self.streamResets, Self.streamResets)
        // Else it keeps as many closed streams as may be open, for priorities, which are not looked at here.
        nghttp2_option_set_no_closed_streams(options, 1)
        var functions = session_memory_functions(memory)
        let owner = Unmanaged.passUnretained(self).toOpaque()
        let code = nghttp2_session_server_new3(&session, callbacks, owner, options, &functions)
        guard code == 0 else { throw ClientSession.SessionError(code: code) }
        submitSettings([
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, settings.headerTableSize),
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.maxConcurrentStreams),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.initialWindowSize),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, settings.maxHeaderListSize),
        ])
    }

    deinit {
        for streamID in streams.openStreams() {
            streams.find(streamID)?.pointee.value.responseBody?.deallocate()
        }
        nghttp2_session_del(session)
        session_memory_delete(memory)
    }

    var isFinished: Bool {
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    func setMaxConcurrentStreams(_ limit: UInt32) {
        submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limit)])
    }

    func submitSettings(_ values: [(nghttp2_settings_id, UInt32)]) {
        let entries = values.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws {
        let read = nghttp2_session_mem_recv(
            session,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            bytes.count
        )
        guard read >= 0 else { throw ClientSession.SessionError(code: Int32(read)) }
    }

    func serialise(into buffer: inout ByteBuffer, limit: Int) throws -> Bool {
        while buffer.readableBytes < limit {
            var data: UnsafePointer<UInt8>?
            let length = nghttp2_session_mem_send(session, &data)
            guard length >= 0 else { throw ClientSession.SessionError(code: Int32(length)) }
            guard length > 0, let data else { return false }
            let frame = UnsafeRawBufferPointer(start: data, count: length)
            if data[3] == UInt8(NGHTTP2_HEADERS.rawValue) {
                try writeHeaders(frame, to: &buffer)
            } else {
                buffer.writeBytes(frame)
            }
        }
        return true
    }

    /// Writes a header block, and behind it the field that varies: as a string, and of no connection's table, it needs nothing but its place.
    private func writeHeaders(_ frame: UnsafeRawBufferPointer, to buffer: inout ByteBuffer) throws {
        let streamID = FrameHeader.streamID(frame)
        guard let (response, value) = answerToWrite(Int32(bitPattern: streamID)), let name = response.varyingName else {
            buffer.writeBytes(frame)
            return
        }
        let flags = try FrameHeader.flagsOfWhole(frame)
        let start = buffer.writerIndex
        let room = frame.count + name.count + value.count + HeaderBlockWriter.longestInteger
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { space in
            var block = HeaderBlockWriter(space, from: 0)
            block.copy(frame)
            block.copy(name)
            value.withUnsafeBytes { block.append($0) }
            return block.count
        }
        FrameHeader.divide(&buffer, from: start, flags: flags, streamID: streamID)
    }

    /// The answer of a stream whose header block is about to be written.
    private func answerToWrite(_ streamID: Int32) -> ServerStream.Answer? {
        if ended.streamID == streamID { return ended.answer.take() }
        return streams.find(streamID)?.pointee.value.answer
    }

    /// Answers a stream; one that is closed meanwhile is left alone.
    func respond(
        _ streamID: Int32,
        _ response: HTTP2PreparedResponse,
        varyingValue: ArraySlice<UInt8>,
        body: some Collection<UInt8>
    ) {
        guard let slot = streams.find(streamID), slot.pointee.value.answer == nil else { return }
        slot.pointee.value.answer = (response, varyingValue)
        guard !body.isEmpty else {
            nghttp2_submit_response(session, streamID, response.fields, response.fields.count, nil)
            return
        }
        let record = Self.record(body)
        slot.pointee.value.responseBody = record
        var provider = nghttp2_data_provider(source: nghttp2_data_source(ptr: record), read_callback: readArenaBody)
        nghttp2_submit_response(session, streamID, response.fields, response.fields.count, &provider)
    }

    private static func record(_ body: some Collection<UInt8>) -> UnsafeMutableRawPointer {
        let record = UnsafeMutableRawPointer.allocate(byteCount: 8 + body.count, alignment: 8)
        record.storeBytes(of: UInt32(body.count), as: UInt32.self)
        record.storeBytes(of: 0, toByteOffset: 4, as: UInt32.self)
        UnsafeMutableRawBufferPointer(start: record + 8, count: body.count).copyBytes(from: body)
        return record
    }

    func reset(_ streamID: Int32, _ code: UInt32) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, code)
    }

    func goAway(lastStreamID: Int32?, code: UInt32, debugData: [UInt8]) {
        var last = max(0, lastStreamID ?? nghttp2_session_get_last_proc_stream_id(session))
        // nghttp2 sends no GOAWAY at all with an id that a client cannot use.
        if last > 0, last % 2 == 0 { last -= 1 }
        nghttp2_submit_goaway(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code, debugData, debugData.count)
    }

    fileprivate func begin(_ streamID: Int32) {
        var stream = ServerStream()
        if let request = spare.popLast() {
            stream.headers = request.headers
            stream.body = request.body
        } else {
            stream.headers.reserve()
        }
        streams.insert(streamID, stream)
    }

    fileprivate func finish(_ streamID: Int32) {
        guard let slot = streams.find(streamID) else { return }
        var stream = streams.remove(slot)
        stream.responseBody?.deallocate()
        ended = (streamID, stream.answer.take())
    }

    fileprivate func requestComplete(_ streamID: Int32) {
        guard let slot = streams.find(streamID) else { return }
        var headers = HTTP2HeaderBlock()
        swap(&headers, &slot.pointee.value.headers)
        var body: [UInt8] = []
        swap(&body, &slot.pointee.value.body)
        requests.append(
            HTTP2ServerRequest(
                streamID: streamID,
                headers: headers,
                body: body,
                bodyLength: slot.pointee.value.bodyLength
            )
        )
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

    /// - Returns: whether the request's fields fit with this one.
    fileprivate func fieldReceived(
        _ streamID: Int32,
        _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let slot = streams.find(streamID) else { return true }
        guard slot.pointee.value.headers.bytes.count + name.count + value.count <= largestHeaderBlock else {
            return false
        }
        slot.pointee.value.headers.append(name: name, value: value)
        return true
    }

    fileprivate func bodyReceived(_ streamID: Int32, _ data: UnsafeBufferPointer<UInt8>) {
        guard let slot = streams.find(streamID) else { return }
        let room = max(0, settings.largestBody - slot.pointee.value.body.count)
        slot.pointee.value.body.append(contentsOf: data.prefix(room))
        slot.pointee.value.bodyLength += data.count
    }

    fileprivate func invalidFrame(_ frame: nghttp2_frame, _ error: Int32) {
        // Malformed fields come here as well, with another error, and concern their stream only.
        guard UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue, error == NGHTTP2_ERR_PROTO.rawValue,
            let debugData = settings.violationDebugData
        else { return }
        goAway(lastStreamID: nil, code: HTTP2ErrorCode.protocolError.rawValue, debugData: debugData)
    }
}

/// HPACK lets a frame of some kilobytes unfold into gigabytes: a request whose fields exceed this is reset.
private let largestHeaderBlock = 64 * 1_024

extension ServerSession {
    private static func install(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
            return ServerSession.with(user) { $0.begin(frame.pointee.hd.stream_id) }
        }
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
            var takes = true
            let code = ServerSession.with(user) { takes = $0.fieldReceived(frame.pointee.hd.stream_id, name, value) }
            return takes ? code : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, streamID, data, length, user in
            ServerSession.with(user) { $0.bodyReceived(streamID, UnsafeBufferPointer(start: data, count: length)) }
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, streamID, _, user in
            ServerSession.with(user) { $0.finish(streamID) }
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame else { return 0 }
            let type = UInt32(frame.pointee.hd.type)
            guard type == NGHTTP2_HEADERS.rawValue || type == NGHTTP2_DATA.rawValue,
                frame.pointee.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            else { return 0 }
            return ServerSession.with(user) { $0.requestComplete(frame.pointee.hd.stream_id) }
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, error, user in
            guard let frame else { return 0 }
            return ServerSession.with(user) { $0.invalidFrame(frame.pointee, error) }
        }
    }
}

/// What a server connection remembers of one open stream.
struct ServerStream {
    typealias Answer = (response: HTTP2PreparedResponse, value: ArraySlice<UInt8>)

    var headers = HTTP2HeaderBlock()
    var body: [UInt8] = []
    var bodyLength = 0
    /// The response with the value of its field that varies. It keeps the fields alive until the stream is closed, as nghttp2 reads them in place.
    var answer: Answer?
    /// The response's body behind its header, as in ``HTTP2RequestBatch``; freed when the stream is closed.
    var responseBody: UnsafeMutableRawPointer?
}
