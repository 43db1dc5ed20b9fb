/// Delivery ids and their text form `_dId`.
///
/// The text is hexadecimal, because the SDK sends it back verbatim and tracking URLs are hexadecimal. But ids are
/// chosen so that the text has only the digits 0 to 9, because old app code reads it as a decimal number.
package enum DeliveryID {
    /// The id as hexadecimal text without leading zeros; `_dId` in a payload.
    package static func hexText(_ id: Int64) -> String {
        String(UInt64(bitPattern: id), radix: 16)
    }

    /// The n-th id: the number whose hexadecimal digits are the decimal digits of n. `nth(10)` is 0x10, which is 16.
    ///
    /// Nil for a negative n and for n above 7,999,999,999,999,999, the last one whose id fits into a signed 64-bit
    /// integer.
    package static func nth(_ number: Int64) -> Int64? {
        number < 0 ? nil : Int64(String(number), radix: 16)
    }

    /// The id with this hexadecimal text; nil if the text is no id.
    package static func parse(_ hexText: some StringProtocol) -> Int64? {
        guard hexText.utf8.allSatisfy({ HexDigit.value($0) != nil }) else { return nil }
        return Int64(hexText, radix: 16)
    }

    /// The ids that a text returned by an app may mean, the likeliest first.
    ///
    /// An app returns the text verbatim, or reads it as a decimal number and returns that number in hexadecimal. The
    /// caller tells the two apart by the message id, which only the right delivery's key decrypts.
    package static func candidates(_ text: some StringProtocol) -> [Int64] {
        guard let value = parse(text), value >= 0 else { return [] }
        let readAsDecimal = nth(value)
        let isVerbatim = text.utf8.allSatisfy { $0 <= UInt8(ascii: "9") }
        return (isVerbatim ? [value, readAsDecimal] : [readAsDecimal]).compactMap(\.self)
    }
}
