import PushCore

/// Converts push tokens from hexadecimal digits to bytes.
enum BinaryToken {
    /// Apple, "Binary Provider API": the token currently has 32 bytes and may have up to 100.
    static let maxBytes = 100

    /// Whether the digits form a token that a frame can carry.
    static func isValid(_ digits: ArraySlice<UInt8>) -> Bool {
        !digits.isEmpty && digits.count.isMultiple(of: 2) && digits.count <= maxBytes * 2
            && digits.allSatisfy { value($0) != nil }
    }

    /// Appends the bytes of a valid token.
    static func append(_ digits: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var index = digits.startIndex
        while index &+ 1 < digits.endIndex {
            output.append((value(digits[index]) ?? 0) << 4 | (value(digits[index &+ 1]) ?? 0))
            index &+= 2
        }
    }

    /// The lower-case digits of a token's bytes.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        for byte in bytes {
            digits.append(characters[Int(byte >> 4)])
            digits.append(characters[Int(byte & 15)])
        }
        return String(decoding: digits, as: UTF8.self)
    }

    private static let characters = Array("0123456789abcdef".utf8)

    @inline(__always)
    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}
