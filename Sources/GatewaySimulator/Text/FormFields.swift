/// The fields of `application/x-www-form-urlencoded`, which queries also use.
enum FormFields {
    /// Decodes `a=b&c=d`; for a repeated name the last value is used.
    static func decode(_ bytes: some Collection<UInt8>) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            fields[plain(parts[0])] = parts.count > 1 ? plain(parts[1]) : ""
        }
        return fields
    }

    private static func plain(_ bytes: some Collection<UInt8>) -> String {
        var output: [UInt8] = []
        let source = Array(bytes)
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
                let high = HexNibble.value(source[index + 1]),
                let low = HexNibble.value(source[index + 2])
            {
                output.append(high << 4 | low)
                index += 3
            } else {
                output.append(source[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : source[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

enum HexNibble {
    /// The value of a hexadecimal digit in upper or lower case; nil for any other byte.
    @inline(__always)
    static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}
