extension JSONScanner {
    /// True when the whole text is one JSON object.
    static func isObject(_ bytes: [UInt8]) -> Bool {
        var scanner = JSONScanner(bytes)
        guard scanner.peek() == UInt8(ascii: "{") else { return false }
        do throws(Fault) {
            try scanner.skipValue()
            try scanner.expectEnd()
            return true
        } catch {
            return false
        }
    }

    /// The string with its escapes resolved, for answers and for the few cases where the plain bytes do not do.
    func decoded(_ text: Text) -> [UInt8] {
        guard text.hasEscapes else { return Array(bytes[text.range]) }
        var output: [UInt8] = []
        output.reserveCapacity(text.range.count)
        var index = text.range.lowerBound
        while index < text.range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\") else {
                output.append(bytes[index])
                index += 1
                continue
            }
            if bytes[index + 1] == UInt8(ascii: "u") {
                index = appendUnicode(at: index, end: text.range.upperBound, &output)
            } else {
                output.append(Self.plain(bytes[index + 1]))
                index += 2
            }
        }
        return output
    }

    private static func plain(_ escaped: UInt8) -> UInt8 {
        switch escaped {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escaped
        }
    }

    /// Appends the character of one `\uXXXX` or of a surrogate pair; returns where the text goes on.
    private func appendUnicode(at index: Int, end: Int, _ output: inout [UInt8]) -> Int {
        let first = codeUnit(at: index + 2)
        var value = UInt32(first)
        var next = index + 6
        if (0xD800...0xDBFF).contains(first), next + 5 < end, bytes[next] == UInt8(ascii: "\\"),
            bytes[next + 1] == UInt8(ascii: "u"), case let second = codeUnit(at: next + 2),
            (0xDC00...0xDFFF).contains(second)
        {
            value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
            next += 6
        }
        output.append(contentsOf: String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
        return next
    }

    private func codeUnit(at index: Int) -> UInt16 {
        var value: UInt16 = 0
        for position in index..<index + 4 { value = value << 4 | UInt16(HexNibble.value(bytes[position]) ?? 0) }
        return value
    }
}
