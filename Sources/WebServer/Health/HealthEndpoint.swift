import HTTPTypes
import HummingbirdCore
import PushCore

/// `GET /health/live` and `GET /health/ready`.
struct HealthEndpoint: Sendable {
    let health: WebHealth

    /// The process runs and answers; nothing else is asked, since ending it would mend nothing else.
    func live(_ request: Request) -> WebAnswer {
        guard request.method == .get || request.method == .head else { return .wrongMethod(allowed: "GET, HEAD") }
        return .healthy
    }

    /// Whether requests should come here: 200, or 503 with the reasons.
    ///
    /// `?for=tracking` leaves out what concerns registrations only: hits are taken while the database is away.
    func ready(_ request: Request, _ target: WebTarget) -> WebAnswer {
        guard request.method == .get || request.method == .head else { return .wrongMethod(allowed: "GET, HEAD") }
        let isForTracking = target.query.split(separator: "&").contains("for=tracking")
        let report = health.report(forTracking: isForTracking)
        var answer = WebAnswer(report.reasons.isEmpty ? .ok : .serviceUnavailable, report.json)
        answer.contentType = "application/json"
        return answer
    }
}
