/// Numbers as JSON writes them.
package enum JSONNumber {
    /// An `Int64` has at most as many digits.
    private static let maxDigits = 19
    /// A number with a longer exponent is not a whole one that anyone means.
    private static let exponents = -10_000...10_000

    /// The whole number that a number is, however it is written: `5`, `5.0` and `0.5e1` are all 5, as in JSON Schema.
    /// Nil for a number with a fraction, for one that does not fit, and for a text that is no number.
    package static func whole(_ text: String) -> Int64? {
        var rest = text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        let parts = rest.split(maxSplits: 1, omittingEmptySubsequences: false) { byte in
            byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
        }
        let mantissa = parts[0].split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        var digits: [UInt8] = mantissa.flatMap { Array($0) }
        guard mantissa.allSatisfy({ !$0.isEmpty }), digits.allSatisfy(isDigit),
            let exponent = parts.count > 1 ? Int(String(decoding: parts[1], as: UTF8.self)) : 0,
            exponents.contains(exponent)
        else { return nil }
        // The number is its digits, without a point, times ten to the power of this.
        var power = exponent - (mantissa.count > 1 ? mantissa[1].count : 0)
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            power += 1
        }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        guard !significant.isEmpty else { return 0 }
        guard power >= 0, significant.count + power <= maxDigits else { return nil }
        let plain = String(decoding: significant, as: UTF8.self) + String(repeating: "0", count: power)
        return Int64((isNegative ? "-" : "") + plain)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
