import HTTPTypes
import HummingbirdCore

/// `GET /health/live` and `GET /health/ready`.
struct HealthEndpoint: Sendable {
    let health: WebHealth

    /// The process runs and answers. Nothing else is checked, because restarting it would fix nothing else.
    func live(_ request: Request) -> WebAnswer {
        guard request.method == .get || request.method == .head else { return .wrongMethod(allowed: "GET, HEAD") }
        return .healthy
    }

    /// 200 if requests should come here, or 503 with the reasons.
    ///
    /// `?for=tracking` ignores what affects only registrations: hits are accepted while the database is unreachable.
    func ready(_ request: Request, _ target: WebTarget) -> WebAnswer {
        guard request.method == .get || request.method == .head else { return .wrongMethod(allowed: "GET, HEAD") }
        let isForTracking = target.query.split(separator: "&").contains("for=tracking")
        let report = health.report(forTracking: isForTracking)
        var answer = WebAnswer(report.reasons.isEmpty ? .ok : .serviceUnavailable, report.json)
        answer.contentType = "application/json"
        return answer
    }
}
