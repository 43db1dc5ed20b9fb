import MetricsEndpoint
import PushCore
import Store

/// The metrics page of a web process.
extension WebServer {
    /// Serves the page until cancelled, if it is enabled; never on a port for devices.
    func serveMetrics() async {
        let metrics = setup.settings.metrics
        await MetricsServer.serve(
            at: metrics.address,
            port: metrics.webPort,
            setting: "metrics.webPort",
            logger: setup.logger
        ) { self.metricsPage() }
    }

    func metricsPage() -> String {
        var page = MetricsPage()
        let report = health.report(forTracking: false)
        page.addProcess("web", version: setup.version, isDatabaseUp: report.isDatabaseConnected)
        page.add(.webReady, report.reasons.isEmpty)
        add(report.numbers, &page)
        page.add(.webWaiting, waitingRegistrations, "registrations")
        page.add(.webWaiting, waitingHits, "hits")
        page.add(.spoolBytes, report.spoolBytes)
        page.add(.spoolCapacity, Int64(setup.settings.web.tracking.maxSpoolMb) << 20)
        page.add(.unreadableApplications, report.unreadableApplications)
        if let certificate = listeners.tlsCertificate { page.add(.webCertificateExpiry, certificate.secondsLeft) }
        return page.text
    }

    private func add(_ numbers: WebCounters.Numbers, _ page: inout MetricsPage) {
        // Places of one endpoint, such as the health pages, form one series.
        var answers: [String: [Int: Int]] = [:]
        for (answer, count) in numbers.answers {
            answers[answer.place?.name ?? "other", default: [:]][answer.status, default: 0] += count
        }
        for (endpoint, codes) in answers.sorted(by: { $0.key < $1.key }) {
            for (code, count) in codes.sorted(by: { $0.key < $1.key }) {
                page.add(.webRequests, count, endpoint, String(code))
            }
        }
        page.add(.registrations, numbers.created, "created")
        page.add(.registrations, numbers.updated, "updated")
        page.add(.registrations, numbers.disabled, "disabled")
        page.add(.registrations, numbers.unproven, "unproven")
        page.add(.registrations, numbers.cut, "cut")
        page.add(.registrations, numbers.unknownZones, "unknown_zone")
        page.add(.registrations, numbers.unknownCategories, "unknown_category")
        page.add(.hits, numbers.hits, "stored")
        page.add(.hits, numbers.spooled, "spooled")
        page.add(.hits, numbers.loaded, "loaded")
        page.add(.hits, numbers.dropped.malformed, "malformed")
        page.add(.hits, numbers.dropped.forged, "forged")
        page.add(.hits, numbers.dropped.foreign, "foreign")
        page.add(.hits, numbers.expired, "expired")
        page.add(.webLimited, numbers.limited, "rate")
        page.add(.webLimited, numbers.crowded, "crowded")
    }
}
