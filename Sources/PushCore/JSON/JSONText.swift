/// Writes JSON text.
enum JSONText {
    /// Appends the bytes as the inside of a JSON string, without the quotes.
    ///
    /// Right for any bytes: quotes, backslashes and control characters are escaped, and each maximal piece of invalid
    /// UTF-8 becomes one U+FFFD, as Unicode recommends. Valid UTF-8 stays as it is, because a payload is short of
    /// bytes.
    ///
    /// Returns the size of the string's value: that of the bytes, with each repair.
    @discardableResult
    static func appendEscaped(_ bytes: [UInt8], _ range: Range<Int>, to output: inout [UInt8]) -> Int {
        var size = range.count
        var runStart = range.lowerBound
        var index = runStart
        while index < range.upperBound {
            let byte = bytes[index]
            if byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                index += 1
                continue
            }
            let sequence = byte < 0x80 ? nil : UTF8Sequence(bytes, at: index, before: range.upperBound)
            if let sequence, sequence.isValid {
                index += sequence.length
                continue
            }
            output.append(contentsOf: bytes[runStart..<index])
            if sequence == nil {
                appendEscape(byte, to: &output)
            } else {
                output.append(contentsOf: UTF8Sequence.replacement)
                size += UTF8Sequence.replacement.count - (sequence?.length ?? 0)
            }
            index += sequence?.length ?? 1
            runStart = index
        }
        output.append(contentsOf: bytes[runStart..<index])
        return size
    }

    /// Appends a text as a JSON string with its quotes.
    static func appendString(_ text: String, to output: inout [UInt8]) {
        let bytes = Array(text.utf8)
        output.append(UInt8(ascii: "\""))
        appendEscaped(bytes, bytes.indices, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        default:
            output.append(contentsOf: [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")])
            output.append(HexDigit.characters[Int(byte >> 4)])
            output.append(HexDigit.characters[Int(byte & 15)])
        }
    }
}

extension JSONText {
    /// The bytes as the inside of a JSON string.
    static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        appendEscaped(bytes, bytes.indices, to: &output)
        return output
    }
}
