/// An HTTP answer as received.
struct RawAnswer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: String

    /// The first complete answer in the bytes, and its length.
    static func parse(_ bytes: [UInt8]) -> (RawAnswer, Int)? {
        let end = Array("\r\n\r\n".utf8)
        guard let range = bytes.firstRange(of: end) else { return nil }
        let lines = String(decoding: bytes[..<range.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let length = Int(headers["content-length"] ?? "") ?? 0
        guard bytes.count >= range.upperBound + length else { return nil }
        let body = String(decoding: bytes[range.upperBound..<range.upperBound + length], as: UTF8.self)
        return (RawAnswer(status: status, headers: headers, body: body), range.upperBound + length)
    }
}
