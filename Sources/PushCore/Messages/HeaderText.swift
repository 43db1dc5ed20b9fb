/// Text for the value of a header field.
///
/// A field value that begins or ends with a space or tab, or contains a control character, makes an HTTP/2 request
/// malformed (RFC 9113, section 8.2.1). The gateway then resets the stream, and the message becomes ambiguous.
package enum HeaderText {
    /// Whether a text is a valid field value.
    package static func isValue(_ text: String) -> Bool {
        let bytes = text.utf8
        return !bytes.contains(where: isControl) && bytes.first != space && bytes.last != space
    }

    /// The text with control characters replaced by spaces, and without spaces at its ends.
    package static func cleaned(_ text: String) -> String {
        if isValue(text) { return text }
        var bytes = Array(text.utf8)
        clean(&bytes, from: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Cleans the end of a buffer in the same way.
    package static func clean(_ bytes: inout [UInt8], from start: Int) {
        for index in start..<bytes.count where isControl(bytes[index]) { bytes[index] = space }
        while bytes.count > start, bytes.last == space { bytes.removeLast() }
        let first = bytes[start...].firstIndex { $0 != space } ?? bytes.endIndex
        if first > start { bytes.removeSubrange(start..<first) }
    }

    private static let space = UInt8(ascii: " ")

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }
}
