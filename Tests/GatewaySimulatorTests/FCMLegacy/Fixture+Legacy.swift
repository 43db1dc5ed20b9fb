import Foundation
import GatewaySimulator

extension Fixture {
    /// A request to the legacy gateway over curl; the sample key unless another one, or none, is given.
    func legacy(
        _ body: String,
        key: String?? = .none,
        path: String = "/fcm/send",
        method: String = "POST",
        type: String = "application/json",
        extra: [String] = []
    ) throws -> Curl.Answer {
        var arguments = ["--http1.1", "-X", method, "https://localhost:\(simulator.fcmLegacyPort)\(path)"]
        arguments += ["-H", "content-type: \(type)"]
        if let key = key ?? simulator.credentials.fcmProjectKey { arguments += ["-H", "authorization: key=\(key)"] }
        return try curl.run(arguments + extra, body: Array(body.utf8))
    }
}

extension Curl.Answer {
    /// The body as a JSON object.
    func json() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
    }
}
