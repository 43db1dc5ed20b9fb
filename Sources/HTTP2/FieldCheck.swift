import CNGHTTP2

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Validates the fields of a message one by one (RFC 9113, sections 8.2 and 8.3).
struct FieldCheck {
    /// Whether the message is malformed and its stream must end.
    private(set) var isMalformed = false
    /// The first fault.
    private(set) var fault: StaticString = ""
    /// `content-length`; nil if there is none.
    private(set) var length: Int?
    /// The pseudo-header fields received, as bits.
    private(set) var pseudo: UInt8 = 0
    private var hasRegular = false
    private let isRequest: Bool
    private let isTrailer: Bool

    static let status: UInt8 = 1
    static let method: UInt8 = 2
    static let scheme: UInt8 = 4
    static let path: UInt8 = 8
    static let authority: UInt8 = 16
    static let host: UInt8 = 32

    init(isRequest: Bool, isTrailer: Bool) {
        self.isRequest = isRequest
        self.isTrailer = isTrailer
    }

    /// Validates a field.
    /// - Returns: whether the field counts. A field with invalid characters is dropped, as in nghttp2.
    mutating func take(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = name.first, let start = name.baseAddress else {
            note("a field without a name")
            return false
        }
        if first == UInt8(ascii: ":") {
            takePseudo(name, value)
            return !isMalformed
        }
        hasRegular = true
        guard nghttp2_check_header_name(start, name.count) != 0 else {
            // An upper-case letter makes the message malformed; any other invalid character only drops the field.
            if name.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) {
                note("an upper-case field name")
            }
            return false
        }
        guard value.isEmpty || nghttp2_check_header_value(value.baseAddress, value.count) != 0 else { return false }
        switch name.count {
        case 2 where isName(name, "te"): if !isName(value, "trailers") { note("a te field other than trailers") }
        case 4 where isName(name, "host"): pseudo |= Self.host
        case 7 where isName(name, "upgrade"), 10 where isName(name, "connection") || isName(name, "keep-alive"),
            16 where isName(name, "proxy-connection"), 17 where isName(name, "transfer-encoding"):
            note("a connection-specific field of HTTP/1.1")
        case 14 where isName(name, "content-length"): takeLength(value)
        default: break
        }
        return !isMalformed
    }

    /// Notes a fault.
    private mutating func note(_ what: StaticString) {
        if !isMalformed { fault = what }
        isMalformed = true
    }

    private mutating func takePseudo(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        let bit: UInt8
        switch name.count {
        case 5 where isName(name, ":path"): bit = Self.path
        case 7 where isName(name, ":status"): bit = Self.status
        case 7 where isName(name, ":method"): bit = Self.method
        case 7 where isName(name, ":scheme"): bit = Self.scheme
        case 10 where isName(name, ":authority"): bit = Self.authority
        default: bit = 0
        }
        let isSound = nghttp2_check_header_value(value.baseAddress, value.count) != 0
        if bit == 0 || hasRegular || isTrailer || pseudo & bit != 0 || isRequest == (bit == Self.status) || !isSound {
            note("an unknown or misplaced pseudo-header field")
        }
        if bit != Self.authority, value.isEmpty { note("an empty pseudo-header field") }
        if bit == Self.path, let first = value.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "*") {
            note("an invalid path")
        }
        pseudo |= bit
        if bit == Self.status {
            let digits = value.count == 3 && value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            // 101 exists only in HTTP/1.1 (RFC 9113, section 8.6).
            if !digits || value[0] == UInt8(ascii: "0") || value.elementsEqual("101".utf8) {
                note("an invalid status")
            }
        }
    }

    private mutating func takeLength(_ value: UnsafeBufferPointer<UInt8>) {
        guard length == nil, !value.isEmpty, let number = Int(String(decoding: value, as: UTF8.self)), number >= 0,
            value[0] != UInt8(ascii: "+")
        else { return note("an invalid or second content-length") }
        length = number
    }

    /// Validates the message once all fields are read.
    mutating func end() {
        guard !isTrailer else { return }
        if isRequest {
            let needed = Self.method | Self.scheme | Self.path
            if pseudo & needed != needed || pseudo & (Self.authority | Self.host) == 0 {
                note("a request without method, scheme, path or authority")
            }
        } else if pseudo & Self.status == 0 {
            note("an answer without a status")
        }
    }

    private func isName(_ text: UnsafeBufferPointer<UInt8>, _ word: StaticString) -> Bool {
        guard text.count == word.utf8CodeUnitCount, let start = text.baseAddress else { return false }
        return memcmp(start, word.utf8Start, text.count) == 0
    }
}
