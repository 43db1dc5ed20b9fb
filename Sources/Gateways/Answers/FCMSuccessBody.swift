/// The body of an accepted FCM HTTP v1 message, `{"name":"projects/…/messages/…"}`.
enum FCMSuccessBody {
    private static let key = Array("\"name\"".utf8)
    /// What the names of messages begin with; a page or a proxy in FCM's place says no such thing.
    private static let start = Array("projects/".utf8)

    /// The message's name, found by a scan without a JSON parser, as this runs for every message; nil if there is none, and FCM has
    /// not given the answer. A name longer than any reason is cut.
    ///
    /// Names are made of letters, digits and `/:%-_`, so none needs an escape; one with anything but ASCII counts as none.
    static func name(in body: [UInt8]) -> String? {
        let opening = skipBlanks(body, from: 0)
        guard opening < body.count, body[opening] == UInt8(ascii: "{"), let keyEnd = endOfKey(body) else { return nil }
        let colon = skipBlanks(body, from: keyEnd)
        guard colon < body.count, body[colon] == UInt8(ascii: ":") else { return nil }
        let quote = skipBlanks(body, from: colon + 1)
        guard quote < body.count, body[quote] == UInt8(ascii: "\"") else { return nil }
        var end = quote + 1
        while end < body.count, body[end] != UInt8(ascii: "\"") {
            if body[end] == UInt8(ascii: "\\") || !(0x20...0x7E).contains(body[end]) { return nil }
            end += 1
        }
        let name = body[(quote + 1)..<end]
        guard end < body.count, name.starts(with: start) else { return nil }
        return String(decoding: name.prefix(ReasonText.maximumBytes), as: UTF8.self)
    }

    private static func endOfKey(_ body: [UInt8]) -> Int? {
        var start = 0
        while start + key.count <= body.count {
            if body[start] == key[0], body[start + 1] == key[1], body[start..<(start + key.count)].elementsEqual(key) {
                return start + key.count
            }
            start += 1
        }
        return nil
    }

    private static func skipBlanks(_ body: [UInt8], from start: Int) -> Int {
        var position = start
        while position < body.count, body[position] == 0x20 || (0x09...0x0D).contains(body[position]) { position += 1 }
        return position
    }
}
