/// A metric that a process of PushMTA has; its row in ``MetricDefinition`` says everything of it.
public enum Metric: Sendable, Hashable, CaseIterable {
    // Every process.
    case buildInfo, databaseUp, processCPU, processMemory, processDescriptors, processMostDescriptors, processStart

    // Messages, as the children of a supervisor tell.
    case messages, retries, ambiguous, late, childEvents, messageSeconds, gatewaySeconds, databaseSeconds, inFlight,
        connections, window, partsHeld

    // Children and host.
    case children, mostChildren, childCPU, childMemory, childrenEnded, throttledKinds, claiming, journalBytes,
        journalDiskFree, journalWritable, journalsPutAside, journalReplayed

    // The database, as each supervisor reads it every 10 seconds: the same on each host, so take the max over hosts.
    case figuresAge, figuresSeconds, alarms, deliveries, hosts, hostGone, readyMessages, claimedMessages, queueAge,
        circuit, trouble, quota, rateHolds,
        credentialExpiry,
        feedbackActing, tokenEventAge, retentionHolds, replicationLag, replicas, oldestSnapshot, deadRows

    // Feedback worker.
    case isActing, feedbackDone, spoolFiles, waitingSpoolBytes

    // Web process.
    case webReady, webRequests, registrations, hits, webLimited, webWaiting, spoolBytes, spoolCapacity,
        unreadableApplications, webCertificateExpiry
}

extension Metric {
    private static let definitions = Dictionary(
        MetricDefinition.all.map { ($0.metric, $0) },
        uniquingKeysWith: { first, _ in first }
    )

    /// Its row. A test sees to it that each has one.
    public var definition: MetricDefinition {
        Self.definitions[self]
            ?? MetricDefinition(self, "pushmta_\(self)", .gauge, [], .all, help: "", action: "")
    }
}

/// The declarations of metrics as the document `Deploy/guide/metrics.md`.
public enum MetricsDocument {
    /// The whole document; it ends with a line end.
    public static var text: String {
        let parts = MetricDefinition.sections.map { section in
            let rows = section.rows.map(line).joined(separator: "\n")
            return """
                ## \(section.title)

                | metric | type | process | meaning | what to do |
                |---|---|---|---|---|
                \(rows)
                """
        }
        return ([introduction] + parts).joined(separator: "\n\n") + "\n"
    }

    private static let introduction = """
        # Metrics

        Made of the declarations in the code by `pushmta metrics --markdown`; `pushmta metrics --json` has the same for programs.

        Supervisor, feedback worker, web process and console each serve `/metrics` in Prometheus' text format, on `metrics.address` (default
        127.0.0.1) and ports of their own: `metrics.supervisorPort`, `metrics.feedbackPort`, `metrics.webPort`, `metrics.consolePort`. The
        supervisor's page has the figures of its children, too. [Monitoring](monitoring.md#prometheus) says how to scrape and alert,
        [Runbooks](runbooks.md) what to do about an alert.

        Labels are applications (`app`), connectors (`gateway`: ios-http2, ios-binary, android-v1, android-v2), hosts and words of short lists;
        never a delivery, token or user. So the number of series grows with applications and hosts only.
        """

    private static func line(_ row: MetricDefinition) -> String {
        let labels = row.labels.isEmpty ? "" : "{\(row.labels.joined(separator: ","))}"
        let cells = ["`\(row.name)\(labels)`", row.kind.rawValue, row.source.rawValue, row.help, row.action]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
