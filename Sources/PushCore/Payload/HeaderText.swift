/// Text for a header field's value.
///
/// HTTP/2 calls a request malformed whose field value begins or ends with a space or a tab, or has a control character in it
/// (RFC 9113, section 8.2.1): the gateway resets its stream, and nobody knows what became of the message.
public enum HeaderText {
    /// Whether a text can be a field's value as it is.
    public static func isValue(_ text: String) -> Bool {
        let bytes = text.utf8
        return !bytes.contains(where: isControl) && bytes.first != space && bytes.last != space
    }

    /// The text with spaces for control characters and none at its ends.
    public static func cleaned(_ text: String) -> String {
        if isValue(text) { return text }
        var bytes = Array(text.utf8)
        clean(&bytes, from: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Does the same with the end of a buffer.
    static func clean(_ bytes: inout [UInt8], from start: Int) {
        for index in start..<bytes.count where isControl(bytes[index]) { bytes[index] = space }
        while bytes.count > start, bytes.last == space { bytes.removeLast() }
        let first = bytes[start...].firstIndex { $0 != space } ?? bytes.endIndex
        if first > start { bytes.removeSubrange(start..<first) }
    }

    private static let space = UInt8(ascii: " ")

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }
}
