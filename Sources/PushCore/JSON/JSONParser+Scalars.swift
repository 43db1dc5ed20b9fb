extension JSONParser {
    /// Parses a number and returns it as it is written.
    mutating func number() throws(JSONSyntaxError) -> String {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw error("a digit is expected") }
    }

    /// Parses a string in quotes; invalid UTF-8 is repaired.
    mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        var output: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: output, as: UTF8.self)
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &output)
            case 0..<0x20:
                throw error("a string contains a control character that is not escaped")
            default:
                output.append(byte)
                position += 1
            }
        }
        throw error("a string is not closed")
    }

    private mutating func escape(into output: inout [UInt8]) throws(JSONSyntaxError) {
        guard let byte = peek else { throw error("a string is not closed") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): output.append(byte)
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"): output.append(contentsOf: Array(String(try scalar()).utf8))
        default: throw error("a string contains an unknown escape")
        }
    }

    /// The scalar of a `\u` escape or of a surrogate pair of them; half a pair becomes ``halfPair``.
    private mutating func scalar() throws(JSONSyntaxError) -> Character {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        let afterFirst = position
        if first < 0xDC00, take("\\"), take("u") {
            let second = try codeUnit()
            if (0xDC00..<0xE000).contains(second) {
                let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
                if let scalar = Unicode.Scalar(value) { return Character(scalar) }
            }
        }
        guard let halfPair else { throw error("a \\u escape is half of a surrogate pair") }
        position = afterFirst
        return halfPair
    }

    private mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = HexDigit.value(byte) else {
                throw error("four hexadecimal digits are expected after \\u")
            }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }
}
