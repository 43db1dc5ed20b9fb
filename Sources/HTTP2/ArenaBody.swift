import CNGHTTP2

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Copies the next piece of a body whose eight-byte header says how long it is and how much of it has been taken.
let readArenaBody: nghttp2_data_source_read_callback = { _, _, target, room, flags, source, _ in
    guard let body = source?.pointee.ptr, let target, let flags else { return 0 }
    let length = Int(body.load(as: UInt32.self))
    let sent = Int(body.load(fromByteOffset: 4, as: UInt32.self))
    let piece = min(room, length - sent)
    memcpy(target, body + 8 + sent, piece)
    body.storeBytes(of: UInt32(sent + piece), toByteOffset: 4, as: UInt32.self)
    if sent + piece == length { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
    return piece
}
