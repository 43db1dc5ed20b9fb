import Foundation

struct HTTP1Answer: Sendable {
    var status: Int
    var body: [UInt8]
    var contentType = "application/json; charset=utf-8"
    /// The delay of the answer, in milliseconds; 0 for none.
    var delayMilliseconds = 0

    /// An answer with JSON text.
    init(status: Int = 200, json: String) {
        self.status = status
        body = Array((json + "\n").utf8)
    }

    /// An answer with a value encoded as JSON.
    init(status: Int = 200, _ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        self.init(status: status, json: String(decoding: data, as: UTF8.self))
    }

    /// An error answer that says what is wrong with the request.
    static func error(_ status: Int, _ message: String) -> HTTP1Answer {
        HTTP1Answer(status: status, json: "{\"error\":\(JSONText.quoted(message))}")
    }
}
