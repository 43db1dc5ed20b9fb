/// A metric of a PushMTA process; its row in ``MetricDefinition`` describes it.
package enum Metric: Sendable, Hashable, CaseIterable {
    // Every process.
    case buildInfo, databaseUp, processCPU, processMemory, processDescriptors, processMostDescriptors, processStart

    // Messages, as reported by the children of a supervisor.
    case messages, retries, ambiguous, late, childEvents, messageSeconds, gatewaySeconds, databaseSeconds, inFlight,
        connections, window, partsHeld

    // Children and host.
    case children, maxChildren, childCPU, childMemory, childrenEnded, throttledKinds, claiming, journalBytes,
        journalDiskFree, journalWritable, journalsPutAside, journalReplayed

    // The database, as each supervisor reads it every 10 seconds: the same on each host, so take the max over hosts.
    case figuresAge, figuresSeconds, alarms, deliveries, hosts, hostGone, readyMessages, claimedMessages, queueAge,
        circuit, trouble, quota, rateHolds,
        credentialExpiry,
        feedbackActing, tokenEventAge, retentionHolds, eventLag, replicationLag, replicas, oldestSnapshot, deadRows

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

    /// Its row. A test checks that every metric has one.
    package var definition: MetricDefinition {
        Self.definitions[self]
            ?? MetricDefinition(self, "pushmta_\(self)", .gauge, [], .all, help: "", action: "")
    }
}
