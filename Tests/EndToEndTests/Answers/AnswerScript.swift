import Gateways
import PushCore

@testable import Administration
@testable import Laboratory

/// How to make the simulator give the answer of a row, and the expected result.
struct AnswerScript: Sendable {
    /// The JSON about the device for the control port; nil for a device without faults.
    var device: String?
    /// The status that is recorded with the message.
    var status: Int16
    /// The reason that is recorded with the message.
    var reason: String

    /// The script of a row about one message; nil for rows that need more than a device with this answer.
    init?(_ row: AnswerRow) {
        let times =
            row.outcomeClass == .unprocessed || row.application == .pause ? #","times":1,"retry_after":"1""# : ""
        switch (row.gateway, row.source) {
        case (_, .response) where row.outcomeClass == .accepted && row.token == .none && row.gateway != .apnsBinary:
            self.init(device: nil, status: 200, reason: "")
        // A web page, as from a proxy.
        case (.apnsHTTP2, .response) where row.status == 200, (.fcmV1, .response) where row.status == 200:
            self.init(answer: #""status":200,"body":"<html></html>""#, status: 200, reason: row.reason)
        case (.apnsHTTP2, .response): self.init(apns: row, times)
        case (.fcmV1, .response): self.init(fcmV1: row, times)
        case (.fcmLegacy, .response): self.init(fcmLegacy: row, times)
        case (.apnsHTTP2, .noAnswer), (.fcmV1, .noAnswer): self.init(http2: row, times)
        default: return nil
        }
    }

    /// The same answer, but only to the first message.
    var once: AnswerScript {
        var script = self
        if let device, device.hasSuffix("}") { script.device = device.dropLast() + #","times":1,"retry_after":"1"}"# }
        return script
    }

    private init(device: String?, status: Int16, reason: String) {
        self.device = device
        self.status = status
        self.reason = reason
    }

    private init(answer: String, status: Int16, reason: String) {
        self.init(device: #""answer":{\#(answer)}"#, status: status, reason: reason)
    }

    /// A status of the same class for a row that stands for the whole class.
    private static func status(_ row: AnswerRow) -> Int16 {
        switch (row.status, row.reason) {
        case (0, ""): 700
        case (300, ""): 302
        case (500, ""): 502
        default: row.status
        }
    }

    private init(apns row: AnswerRow, _ times: String) {
        let status = Self.status(row)
        if row.reason.isEmpty {
            let body = #"{\"reason\":\"SomethingNew\"}"#
            self.init(
                answer: #""status":\#(status),"body":"\#(body)"\#(times)"#,
                status: status,
                reason: "SomethingNew"
            )
        } else {
            self.init(answer: #""reason":"\#(row.reason)"\#(times)"#, status: status, reason: row.reason)
        }
    }

    private init(fcmV1 row: AnswerRow, _ times: String) {
        let status = Self.status(row)
        // Without FCM's own format it would count as a proxy's page, which is the row without a status.
        let reason = row.reason.isEmpty && row.status != 0 ? "SOMETHING_NEW" : row.reason
        var details =
            #"[{\"@type\":\"type.googleapis.com/google.firebase.fcm.v1.FcmError\",\"errorCode\":\"\#(reason)\"}"#
        if !row.condition.isEmpty {
            details +=
                #",{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\",\"fieldViolations\":[{\"field\":\"\#(row.condition)\"}]}"#
        }
        let json = #"{\"error\":{\"code\":\#(status),\"status\":\"\#(reason)\",\"details\":\#(details)]}}"#
        let body = reason.isEmpty ? "<html></html>" : json
        self.init(answer: #""status":\#(status),"body":"\#(body)"\#(times)"#, status: status, reason: reason)
    }

    /// The simulator's names of answers that have no name on the wire.
    private static let legacyNames: [Int16: String] = [
        300: "REDIRECTED", 400: "JSON_PARSING_ERROR", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND",
        405: "METHOD_NOT_ALLOWED", 408: "REQUEST_TIMEOUT", 429: "TOO_MANY_REQUESTS", 500: "SERVER_ERROR",
        503: "SERVICE_UNAVAILABLE",
    ]

    private init?(fcmLegacy row: AnswerRow, _ times: String) {
        if row.token == .replaced {
            self.init(device: #""state":"Replaced","by":"canonical""#, status: 200, reason: "")
            return
        }
        guard row.status != 0, row.outcomeClass != .ambiguous else { return nil }
        let unknown = row.status == 200 ? "SomethingNew" : Self.legacyNames[row.status]
        // Errors of a result that may also apply to a whole request.
        let whole = row.reason == "Unavailable" ? "UNAVAILABLE_\(row.status)" : "INTERNAL_ERROR_500"
        let known = row.status < 500 ? row.reason : whole
        guard let name = row.reason.isEmpty ? unknown : known else { return nil }
        // The page of a 400 begins with its reason.
        let reason = row.status == 200 || row.status == 400 ? name : row.reason
        self.init(
            answer: #""reason":"\#(name)"\#(times)"#,
            status: row.status == 300 ? 302 : row.status,
            reason: reason
        )
    }

    private init?(http2 row: AnswerRow, _ times: String) {
        switch (row.reason, row.outcomeClass) {
        case ("ConnectionLost", .ambiguous): self.init(answer: #""drop":true"#, status: 0, reason: row.reason)
        case ("Timeout", .ambiguous): self.init(answer: #""silence":true"#, status: 0, reason: row.reason)
        case ("", .ambiguous): self.init(answer: #""reset":2"#, status: 0, reason: "INTERNAL_ERROR")
        case ("REFUSED_STREAM", _): self.init(answer: #""reset":7\#(times)"#, status: 0, reason: row.reason)
        default: return nil
        }
    }
}

extension AnswerRow {
    /// Whether it affects more than its message, so that it needs its own application.
    var concernsOthers: Bool {
        application != .none || source == .noAnswer || isOfOwnTopic
    }

    /// Whether it is about a push type with its own topic.
    var isOfOwnTopic: Bool { gateway == .apnsHTTP2 && source == .response && !condition.isEmpty }

    /// Describes the row in a test failure.
    var label: String { "\(gateway.rawValue) \(source.rawValue) \(status) \(reason) \(condition)" }
}
