import Foundation
import HTTP2

/// The answers of FCM v1.
struct FCMAnswers {
    /// An answer for HTTP/1.1, or one that is used only once.
    struct Answer {
        var status: Int
        var headers: [(String, String)]
        var body: [UInt8]
    }

    private static let jsonType = "application/json; charset=UTF-8"

    private let projectID: String
    private let accepted = HTTP2PreparedResponse(status: 200, headers: [("content-type", jsonType)])
    /// The body of a success, whose digits change with each answer.
    private var body: [UInt8]
    private let digits: Range<Int>
    private let fake: [UInt8]
    private var number: UInt64 = 0

    init(projectID: String) {
        self.projectID = projectID
        let microseconds = UInt64(Date().timeIntervalSince1970 * 1_000_000)
        let start = "{\"name\":\"projects/\(projectID)/messages/0:\(microseconds)%"
        // Google's ids end with 16 hexadecimal digits; here these are a counter.
        body = Array((start + "0000000000000000\"}").utf8)
        digits = start.utf8.count..<start.utf8.count + 16
        fake = Array("{\"name\":\"projects/\(projectID)/messages/fake_message_id\"}".utf8)
        number = UInt64.random(in: 0...UInt64.max) << 32
    }

    /// The code of a reason.
    func code(_ reason: FCMReason) -> UInt8 {
        UInt8((FCMReason.allCases.firstIndex(of: reason) ?? 0) + 1)
    }

    mutating func send(_ judgement: Judgement, streamID: Int32, on connection: HTTP2ServerConnection) {
        if judgement.isAccepted {
            if judgement.isRecorded { countUp() }
            return connection.respond(streamID, accepted, body: judgement.isRecorded ? body : fake)
        }
        let answer = rejection(judgement)
        let head = HTTP2PreparedResponse(status: answer.status, headers: answer.headers)
        connection.respond(streamID, head, body: answer.body)
    }

    /// The answer to one message.
    mutating func answer(_ judgement: Judgement) -> Answer {
        guard judgement.isAccepted else { return rejection(judgement) }
        if judgement.isRecorded { countUp() }
        let body = judgement.isRecorded ? body : fake
        return Answer(status: 200, headers: [("content-type", Self.jsonType)], body: body)
    }

    private func rejection(_ judgement: Judgement) -> Answer {
        let rejection = judgement.detail?.rejection ?? FCMRejection(FCMReason.allCases[Int(judgement.code) - 1])
        var headers = [("content-type", rejection.contentType)]
        if let retryAfter = judgement.retryAfter { headers.append(("retry-after", retryAfter)) }
        return Answer(status: rejection.reason.status, headers: headers, body: rejection.body(projectID: projectID))
    }

    private mutating func countUp() {
        number &+= 1
        var rest = number
        for position in digits.reversed() {
            let digit = UInt8(truncatingIfNeeded: rest & 15)
            body[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            rest >>= 4
        }
    }
}
