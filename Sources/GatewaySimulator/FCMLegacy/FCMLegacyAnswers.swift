import Foundation
import Synchronization

/// Formats the answers of legacy FCM.
final class FCMLegacyAnswers: Sendable {
    /// An answer, ready to be written.
    struct Answer {
        var status: Int
        var headers: [(String, String)]
        var body: [UInt8]
    }

    private let number = Atomic<UInt64>(UInt64.random(in: 0...UInt64.max) << 32)
    /// The first part of message ids: the start time in microseconds. Google's ids also begin with a time.
    private let start = "0:\(UInt64(Date().timeIntervalSince1970 * 1_000_000))%"

    /// The answer to a request.
    func answer(_ judgement: FCMLegacyJudgement) -> Answer {
        var answer = judgement.reason.map { whole($0, judgement.text, judgement) } ?? results(judgement)
        if let retryAfter = judgement.retryAfter { answer.headers.append(("retry-after", retryAfter)) }
        return answer
    }

    private func results(_ judgement: FCMLegacyJudgement) -> Answer {
        if judgement.isForm { return Self.text(200, form(judgement)) }
        if judgement.isTopic, judgement.results.isEmpty {
            return json("{\"message_id\":\(number.add(1, ordering: .relaxed).newValue & 0x7FFF_FFFF_FFFF_FFFF)}")
        }
        return json(list(judgement.results, judgement))
    }

    private func list(_ results: [FCMLegacyJudgement.Result], _ judgement: FCMLegacyJudgement) -> String {
        let failures = results.count { $0.reason != nil }
        let canonicals = results.count { $0.reason == nil && $0.canonical != nil }
        let entries = results.map { result in
            if let reason = result.reason { return "{\"error\":\"\(reason.rawValue)\"}" }
            let canonical = result.canonical.map { ",\"registration_id\":\(JSONText.quoted($0))" } ?? ""
            return "{\"message_id\":\"\(messageID(judgement))\"\(canonical)}"
        }
        return "{\"multicast_id\":\(number.add(1, ordering: .relaxed).newValue & 0x7FFF_FFFF_FFFF_FFFF),"
            + "\"success\":\(results.count - failures),\"failure\":\(failures),\"canonical_ids\":\(canonicals),"
            + "\"results\":[\(entries.joined(separator: ","))]}"
    }

    private func form(_ judgement: FCMLegacyJudgement) -> String {
        guard let result = judgement.results.first else { return "Error=MissingRegistration" }
        if let reason = result.reason { return "Error=\(reason.rawValue)" }
        let canonical = result.canonical.map { "\nregistration_id=\($0)" } ?? ""
        return "id=\(messageID(judgement))\(canonical)"
    }

    private func messageID(_ judgement: FCMLegacyJudgement) -> String {
        guard judgement.isRecorded else { return "fake_message_id" }
        let digits = String(number.add(1, ordering: .relaxed).newValue, radix: 16)
        return start + String(repeating: "0", count: 16 - digits.count) + digits
    }

    // MARK: Answers to whole requests

    private func whole(_ reason: FCMLegacyReason, _ text: String, _ judgement: FCMLegacyJudgement) -> Answer {
        switch reason {
        case .invalidParameters: return Self.text(400, text.isEmpty ? "InvalidParameters" : text)
        case .malformedJSON: return Self.text(400, "JSON_PARSING_ERROR: Unexpected token")
        case .requestFailed: return Self.text(500, FCMLegacyReason.internalServerError.rawValue)
        case .requestRefused: return Self.text(500, FCMLegacyReason.unavailable.rawValue)
        case .requestUnavailable: return Self.text(503, FCMLegacyReason.unavailable.rawValue)
        case .resultMissing: return json(list(Array(judgement.results.dropLast()), judgement))
        case .redirected:
            var answer = Self.page(302, "302 Moved")
            answer.headers.append(("location", "https://portal.example/"))
            return answer
        case .invalidKey: return Self.page(401, "INVALID_KEY")
        case .unauthorized: return Self.page(401, "Unauthorized")
        case .forbidden: return Self.page(403, "Forbidden")
        case .notFound: return Self.page(404, "Error 404 (Not Found)!!1")
        case .methodNotAllowed: return Self.page(405, "Error 405 (Method Not Allowed)!!1")
        case .requestTimeout: return Self.page(408, "Error 408 (Request Timeout)!!1")
        case .tooManyRequests: return Self.page(429, "Error 429 (Too Many Requests)!!1")
        case .serverError: return Self.page(500, "Internal Server Error")
        case .badGateway: return Self.page(502, "Error 502 (Server Error)!!1")
        case .serviceUnavailable: return Self.page(503, "Service Unavailable")
        default: return Self.page(200, "Sign in to the network")
        }
    }

    private func json(_ text: String) -> Answer {
        Answer(status: 200, headers: [("content-type", "application/json; charset=UTF-8")], body: Array(text.utf8))
    }

    private static func text(_ status: Int, _ text: String) -> Answer {
        Answer(status: status, headers: [("content-type", "text/plain; charset=UTF-8")], body: Array(text.utf8))
    }

    private static func page(_ status: Int, _ title: String) -> Answer {
        let text = """
            <HTML>
            <HEAD>
            <TITLE>\(title)</TITLE>
            </HEAD>
            <BODY BGCOLOR="#FFFFFF" TEXT="#000000">
            <H1>\(title)</H1>
            <H2>Error \(status)</H2>
            </BODY>
            </HTML>

            """
        return Answer(status: status, headers: [("content-type", "text/html; charset=UTF-8")], body: Array(text.utf8))
    }
}
