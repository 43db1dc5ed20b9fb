import CurlClient
import PushCore

extension TrialSite {
    /// How long the web process may take until it serves.
    private static let webStartLimit = Duration.seconds(30)
    private static let webLookInterval = Duration.milliseconds(20)

    /// Starts the web process with the site's settings.
    ///
    /// - Returns: Its base address, when it is ready.
    func startWeb(_ settings: Settings) async throws -> String {
        try await host.start(web, "web")
        let base = "http://127.0.0.1:\(settings.web.port)"
        let client = CurlClient()
        let deadline = ContinuousClock.now.advanced(by: Self.webStartLimit)
        while ContinuousClock.now < deadline, web.running != nil {
            let response = try? await client.perform(CurlRequest(url: base + "/health/ready"))
            if response?.status == 200 { return base }
            try await Task.sleep(for: Self.webLookInterval)
        }
        throw CommandFailure(
            .software,
            "The web process does not start. Its log \(web.logFile) ends with:\n\(web.lastWords)"
        )
    }
}
