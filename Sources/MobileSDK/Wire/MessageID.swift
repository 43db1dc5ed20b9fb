import Foundation

/// The id of a broad log as it stands in a tracking address.
enum MessageID {
    /// A UUID as it is, a decimal number in hexadecimal; nil when the text is neither.
    ///
    /// At least two digits, as Adobe's iOS SDK writes them. That one cuts ids off at 32 bits, which loses the message, so
    /// larger ones are written in full here; negative ids are the two's complement in 32 bits if they fit, else in 64.
    static func tracking(_ text: String) -> String? {
        if UUID(uuidString: text) != nil { return text }
        guard let number = Int64(text) else { return nil }
        if number < 0, let short = Int32(exactly: number) { return String(UInt32(bitPattern: short), radix: 16) }
        let digits = String(UInt64(bitPattern: number), radix: 16)
        return digits.count < 2 ? "0" + digits : digits
    }
}
