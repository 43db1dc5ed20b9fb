/// A metric that a process of PushMTA has; its row in ``MetricDefinition`` says everything of it.
public enum Metric: Sendable, Hashable, CaseIterable {
    // Every process.
    case buildInfo, databaseUp, processCPU, processMemory, processDescriptors, processMostDescriptors, processStart

    // Messages, as the children of a supervisor tell.
    case messages, retries, ambiguous, late, gatewaySeconds, databaseSeconds, inFlight, connections, window,
        partsHeld

    // Children and host.
    case children, mostChildren, childCPU, childMemory, childrenEnded, throttledKinds, claiming, journalBytes,
        journalDiskFree, journalWritable, journalsPutAside, journalReplayed

    // The database, as each supervisor reads it every 10 seconds: the same on each host, so take the max over hosts.
    case figuresAge, figuresSeconds, hosts, hostGone, readyMessages, queueAge, circuit, trouble, quota,
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
