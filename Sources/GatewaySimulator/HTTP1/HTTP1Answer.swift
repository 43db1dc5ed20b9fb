import Foundation

/// An HTTP/1.1 answer.
struct HTTP1Answer: Sendable {
    var status: Int
    var body: [UInt8]
    var contentType = "application/json; charset=utf-8"

    /// An answer with a JSON text.
    init(status: Int = 200, json: String) {
        self.status = status
        body = Array((json + "\n").utf8)
    }

    /// An answer with a value as JSON.
    init(status: Int = 200, _ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        self.init(status: status, json: String(decoding: data, as: UTF8.self))
    }

    /// An answer that says what was wrong with the request.
    static func error(_ status: Int, _ message: String) -> HTTP1Answer {
        HTTP1Answer(status: status, json: "{\"error\":\(JSONText.quoted(message))}")
    }
}
