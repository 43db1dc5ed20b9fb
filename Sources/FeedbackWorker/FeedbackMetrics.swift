import MetricsEndpoint
import ProcessEvents
import PushCore
import TrackingSpools

/// The metrics page of a feedback worker.
extension FeedbackWorker {
    /// Serves the page until cancelled, if it is enabled.
    func serveMetrics() async {
        let metrics = setup.settings.metrics
        await MetricsServer.serve(
            at: metrics.address,
            port: metrics.feedbackPort,
            setting: "metrics.feedbackPort",
            logger: setup.logger
        ) { self.metricsPage() }
    }

    func metricsPage() -> String {
        var page = MetricsPage()
        let values = progress.current
        page.addProcess("feedback", version: setup.version, isDatabaseUp: progress.pulse.isUp())
        page.add(.isActing, values.isActing)
        page.add(.feedbackDone, values.totals[.tokenEvents] ?? 0, "token_events")
        page.add(.feedbackDone, (values.totals[.outcomes] ?? 0) + (values.totals[.lateOutcomes] ?? 0), "outcomes")
        page.add(.feedbackDone, values.totals[.hits] ?? 0, "hits")
        page.add(.feedbackDone, values.totalLoaded, "hits_loaded")
        page.add(.spoolFiles, values.backlog.files)
        page.add(.waitingSpoolBytes, values.backlog.bytes)
        return page.text
    }
}
