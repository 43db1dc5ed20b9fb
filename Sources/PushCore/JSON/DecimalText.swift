/// Writes decimal numbers.
enum DecimalText {
    /// Appends a number's decimal digits.
    static func append(_ number: Int64, to output: inout [UInt8]) {
        if number < 0 { output.append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        let start = output.count
        repeat {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var (low, high) = (start, output.count - 1)
        while low < high {
            output.swapAt(low, high)
            low += 1
            high -= 1
        }
    }
}
