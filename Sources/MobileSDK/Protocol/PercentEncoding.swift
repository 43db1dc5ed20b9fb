/// Percent-encoding as in Adobe's SDKs: every UTF-8 byte except the unreserved ones becomes `%XX`.
///
/// A space is `%20` and never `+`, so that form and query decoders read the same.
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The text with all but `A-Z a-z 0-9 - . _ ~` (RFC 3986, section 2.3) encoded.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
