import CNGHTTP2

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
            guard let frame, let session = ClientSession.from(user) else { return 0 }
            session.noteHeader(
                frame.pointee.hd.stream_id,
                UnsafeBufferPointer(start: name, count: nameLength),
                UnsafeBufferPointer(start: value, count: valueLength)
            )
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, streamID, data, length, user in
            guard let slot = ClientSession.from(user)?.streams.find(streamID) else { return 0 }
            let room = max(0, ClientSession.largestBody - slot.pointee.value.body.count)
            slot.pointee.value.body.append(contentsOf: UnsafeBufferPointer(start: data, count: min(length, room)))
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, streamID, errorCode, user in
            guard let session = ClientSession.from(user), let slot = session.streams.find(streamID) else { return 0 }
            session.finish(slot, errorCode: errorCode)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame, let session = ClientSession.from(user) else { return 0 }
            session.note(frame.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame, let session = ClientSession.from(user) else { return 0 }
            if frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) {
                session.streams.find(frame.pointee.hd.stream_id)?.pointee.value.isWritten = true
            } else if frame.pointee.hd.type == UInt8(NGHTTP2_GOAWAY.rawValue) {
                session.noteOwnGoAway(frame.pointee.goaway)
            }
            return 0
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

    @inline(__always)
    private static func from(_ user: UnsafeMutableRawPointer?) -> ClientSession? {
        user.map { Unmanaged<ClientSession>.fromOpaque($0).takeUnretainedValue() }
    }
}
