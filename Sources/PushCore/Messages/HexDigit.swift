/// Conversions between bytes and lower-case hexadecimal digits.
package enum HexDigit {
    /// The digits in order of value.
    package static let characters: [UInt8] = Array("0123456789abcdef".utf8)

    /// The value of a hexadecimal digit of either case, or nil.
    package static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The eight digits of a number as eight bytes, the first digit in the most significant byte.
    ///
    /// It makes all digits at once: a message id has 32 of them, and a delivery has millions of messages.
    @inline(__always)
    package static func spread(_ number: UInt32) -> UInt64 {
        var word = UInt64(number)
        word = (word << 16 | word) & 0x0000_FFFF_0000_FFFF
        word = (word << 8 | word) & 0x00FF_00FF_00FF_00FF
        word = (word << 4 | word) & 0x0F0F_0F0F_0F0F_0F0F
        let isLetter = (word &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let distanceToLetters = UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
        return word &+ 0x3030_3030_3030_3030 &+ isLetter &* distanceToLetters
    }

    /// The bytes as lower-case hexadecimal text.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var output: [UInt8] = []
        for byte in bytes {
            output.append(characters[Int(byte >> 4)])
            output.append(characters[Int(byte & 15)])
        }
        return String(decoding: output, as: UTF8.self)
    }
}
