extension Settings {
    /// Every setting, in the order of the file.
    package static let definitions: [SettingDefinition] =
        generalDefinitions + masterDefinitions + childDefinitions + webDefinitions + consoleDefinitions
        + feedbackDefinitions + metricsDefinitions

    private static let generalDefinitions: [SettingDefinition] = [
        .init("database.url", unit: "libpq connection string or URI", .text(\.database.url), mayHoldSecret: true),
        .init("database.statementTimeoutSec", unit: "seconds", .integer(\.database.statementTimeoutSec, 0...86_400)),
        .init("credentialKeyFile", unit: "path", .text(\.credentialKeyFile)),
        .init("log.format", unit: "format", .choice(\.log.format, ["text", "json"])),
        .init(
            "log.level",
            unit: "level",
            .choice(\.log.level, ["trace", "debug", "info", "notice", "warning", "error", "critical"])
        ),
        .init("nmac.relay.trustedCertsChain", unit: "path", .text(\.nmac.relay.trustedCertsChain)),
        .init("nmac.useHTTPProxy", unit: "true or false", .flag(\.nmac.useHTTPProxy)),
        .init("nmac.proxyHTTP.address", unit: "host name or IP address", .text(\.nmac.proxyHTTP.address)),
        .init("nmac.proxyHTTP.port", unit: "port", .integer(\.nmac.proxyHTTP.port, 1...65_535)),
        .init("nmac.proxyHTTP.login", unit: "name", .text(\.nmac.proxyHTTP.login)),
        .init("nmac.proxyHTTP.password", unit: "password", .text(\.nmac.proxyHTTP.password), isSecret: true),
        .init("nmac.proxyHTTP.override", unit: "host names", .text(\.nmac.proxyHTTP.override)),
        .init(
            "nmac.binary.presumedAcceptedMs",
            unit: "milliseconds",
            .integer(\.nmac.binary.presumedAcceptedMs, 50...60_000)
        ),
        .init("nmac.binary.dispatchWindow", unit: "messages", .integer(\.nmac.binary.dispatchWindow, 1...100_000)),
        .init("nmac.binary.feedbackPeriodSec", unit: "seconds", .integer(\.nmac.binary.feedbackPeriodSec, 1...604_800)),
        .init("nmac.fcm.tokenPath", unit: "path", .text(\.nmac.fcm.tokenPath)),
        .init("nmac.fcm.tokenURLs", unit: "addresses", .text(\.nmac.fcm.tokenURLs)),
        .init("nmac.fcm.metadataServer", unit: "true or false", .flag(\.nmac.fcm.metadataServer)),
        .init("mta.workingPath", unit: "path", .text(\.mta.workingPath)),
        .init(
            "mta.preparation.messagesPerPart",
            unit: "messages",
            .integer(\.mta.preparation.messagesPerPart, 1...10_000)
        ),
        .init("mta.preparation.partsPerChunk", unit: "parts", .integer(\.mta.preparation.partsPerChunk, 1...1_000)),
        .init("mta.preparation.maxReadyParts", unit: "parts", .integer(\.mta.preparation.maxReadyParts, 1...1_000_000)),
        .init("mta.preparation.freezeSec", unit: "seconds", .integer(\.mta.preparation.freezeSec, 0...86_400)),
        .init("mta.lease.durationSec", unit: "seconds", .integer(\.mta.lease.durationSec, 3...3_600)),
        .init("mta.lease.renewalSec", unit: "seconds", .integer(\.mta.lease.renewalSec, 1...1_200)),
        .init("mta.quarantine.maxSoftErrors", unit: "errors", .integer(\.mta.quarantine.maxSoftErrors, 1...1_000)),
        .init(
            "mta.quarantine.significantErrorDelaySec",
            unit: "seconds",
            .integer(\.mta.quarantine.significantErrorDelaySec, 0...31_536_000)
        ),
        .init("mta.quarantine.healingDays", unit: "days", .integer(\.mta.quarantine.healingDays, 1...3_650)),
        .init("mta.quarantine.doubtDays", unit: "days", .integer(\.mta.quarantine.doubtDays, 1...365)),
        .init("mta.quarantine.believesDoubted", unit: "true or false", .flag(\.mta.quarantine.believesDoubted)),
        .init("mta.signals.allowedAddresses", unit: "addresses", .text(\.mta.signals.allowedAddresses)),
    ]

    private static let masterDefinitions: [SettingDefinition] = [
        .init(
            "mta.master.dataBasePoolPeriodSec",
            unit: "seconds",
            .integer(\.mta.master.dataBasePoolPeriodSec, 1...3_600)
        ),
        .init(
            "mta.master.dataBaseRetryDelaySec",
            unit: "seconds",
            .integer(\.mta.master.dataBaseRetryDelaySec, 1...3_600)
        ),
        .init("mta.master.maxSpareServers", unit: "children", .integer(\.mta.master.maxSpareServers, 1...1_000)),
        .init("mta.master.maxSmallChildren", unit: "children", .integer(\.mta.master.maxSmallChildren, 0...1_000)),
        .init(
            "mta.master.freeDatabaseConnections",
            unit: "connections",
            .integer(\.mta.master.freeDatabaseConnections, 0...10_000)
        ),
        .init("mta.master.minSpareServers", unit: "children", .integer(\.mta.master.minSpareServers, 0...1_000)),
        .init("mta.master.startSpareServers", unit: "children", .integer(\.mta.master.startSpareServers, 0...1_000)),
        .init("mta.master.drainTimeoutSec", unit: "seconds", .integer(\.mta.master.drainTimeoutSec, 1...3_600)),
        .init("mta.master.executablePath", unit: "path", .text(\.mta.master.executablePath)),
        .init("mta.master.processRestartTime", unit: "HH:MM:SS", .timeOfDay(\.mta.master.processRestartTime)),
    ]

    private static let childDefinitions: [SettingDefinition] = [
        .init("mta.child.idleChildTimeoutSec", unit: "seconds", .integer(\.mta.child.idleChildTimeoutSec, 1...86_400)),
        .init("mta.child.maxAgeSec", unit: "seconds", .integer(\.mta.child.maxAgeSec, 1...604_800)),
        .init("mta.child.maxMsgPerChild", unit: "messages", .integer(\.mta.child.maxMsgPerChild, 1...1_000_000_000)),
        .init("mta.child.maxWorkingSetMb", unit: "MiB", .integer(\.mta.child.maxWorkingSetMb, 32...65_536)),
        .init(
            "mta.child.maxGCMConnectPerChild",
            unit: "connections",
            .integer(\.mta.child.maxGCMConnectPerChild, 1...1_000)
        ),
        .init(
            "mta.child.maxAPNsConnectPerChild",
            unit: "connections",
            .integer(\.mta.child.maxAPNsConnectPerChild, 1...1_000)
        ),
        .init("mta.child.dispatchWindow", unit: "messages", .integer(\.mta.child.dispatchWindow, 1...100_000)),
        .init("mta.child.maxWaitingMessages", unit: "messages", .integer(\.mta.child.maxWaitingMessages, 1...100_000)),
        .init("mta.child.outcomeBatchSize", unit: "outcomes", .integer(\.mta.child.outcomeBatchSize, 1...10_000)),
        .init(
            "mta.child.outcomeBatchDelayMs",
            unit: "milliseconds",
            .integer(\.mta.child.outcomeBatchDelayMs, 1...10_000)
        ),
        .init("mta.child.requestTimeoutSec", unit: "seconds", .integer(\.mta.child.requestTimeoutSec, 1...3_600)),
        .init("mta.child.connectTimeoutSec", unit: "seconds", .integer(\.mta.child.connectTimeoutSec, 1...600)),
        .init("mta.child.drainTimeoutSec", unit: "seconds", .integer(\.mta.child.drainTimeoutSec, 1...3_600)),
        .init("mta.child.retryLostMessages", unit: "true or false", .flag(\.mta.child.retryLostMessages)),
    ]
}

extension Settings {
    static let webDefinitions: [SettingDefinition] =
        webServerDefinitions + webLimitDefinitions + webStoringDefinitions

    private static let webServerDefinitions: [SettingDefinition] = [
        .init("web.address", unit: "IP address", .text(\.web.address)),
        .init("web.port", unit: "port", .integer(\.web.port, 0...65_535)),
        .init("web.tlsPort", unit: "port", .integer(\.web.tlsPort, 0...65_535)),
        .init("web.certificateFile", unit: "path", .text(\.web.certificateFile)),
        .init("web.privateKeyFile", unit: "path", .text(\.web.privateKeyFile)),
        .init("web.pathPrefix", unit: "path", .text(\.web.pathPrefix)),
        .init("web.databaseUrl", unit: "libpq connection string or URI", .text(\.web.databaseUrl), mayHoldSecret: true),
        .init("web.workingPath", unit: "path", .text(\.web.workingPath)),
        .init("web.accessLog", unit: "path", .text(\.web.accessLog)),
        .init("web.showSourceIP", unit: "true or false", .flag(\.web.showSourceIP)),
        .init("web.drainTimeoutSec", unit: "seconds", .integer(\.web.drainTimeoutSec, 1...3_600)),
        .init("web.threads", unit: "threads", .integer(\.web.threads, 0...256)),
    ]

    private static let webLimitDefinitions: [SettingDefinition] = [
        .init("web.limits.maxConnections", unit: "connections", .integer(\.web.limits.maxConnections, 1...1_000_000)),
        .init(
            "web.limits.maxConnectionsPerClient",
            unit: "connections",
            .integer(\.web.limits.maxConnectionsPerClient, 1...1_000_000)
        ),
        .init("web.limits.apiConnections", unit: "connections", .integer(\.web.limits.apiConnections, 0...1_000_000)),
        .init("web.limits.maxHeaderKb", unit: "KiB", .integer(\.web.limits.maxHeaderKb, 1...1_024)),
        .init("web.limits.maxBodyKb", unit: "KiB", .integer(\.web.limits.maxBodyKb, 1...16_384)),
        .init("web.limits.headerTimeoutSec", unit: "seconds", .integer(\.web.limits.headerTimeoutSec, 1...3_600)),
        .init("web.limits.bodyTimeoutSec", unit: "seconds", .integer(\.web.limits.bodyTimeoutSec, 1...3_600)),
        .init("web.limits.writeTimeoutSec", unit: "seconds", .integer(\.web.limits.writeTimeoutSec, 1...3_600)),
        .init("web.limits.idleTimeoutSec", unit: "seconds", .integer(\.web.limits.idleTimeoutSec, 1...3_600)),
        .init(
            "web.limits.requestsPerSecond",
            unit: "requests per second",
            .integer(\.web.limits.requestsPerSecond, 0...10_000_000)
        ),
        .init("web.limits.requestBurst", unit: "requests", .integer(\.web.limits.requestBurst, 1...10_000_000)),
        .init("web.limits.trustedProxies", unit: "addresses", .text(\.web.limits.trustedProxies)),
    ]

    private static let webStoringDefinitions: [SettingDefinition] = [
        .init("web.registration.batchSize", unit: "registrations", .integer(\.web.registration.batchSize, 1...10_000)),
        .init(
            "web.registration.batchDelayMs",
            unit: "milliseconds",
            .integer(\.web.registration.batchDelayMs, 0...1_000)
        ),
        .init(
            "web.registration.maxWaiting",
            unit: "registrations",
            .integer(\.web.registration.maxWaiting, 1...1_000_000)
        ),
        .init("web.registration.timeoutSec", unit: "seconds", .integer(\.web.registration.timeoutSec, 1...60)),
        .init("web.tracking.batchSize", unit: "hits", .integer(\.web.tracking.batchSize, 1...10_000)),
        .init("web.tracking.batchDelayMs", unit: "milliseconds", .integer(\.web.tracking.batchDelayMs, 0...1_000)),
        .init("web.tracking.maxWaiting", unit: "hits", .integer(\.web.tracking.maxWaiting, 1...1_000_000)),
        .init(
            "web.tracking.databaseTimeoutMs",
            unit: "milliseconds",
            .integer(\.web.tracking.databaseTimeoutMs, 100...60_000)
        ),
        .init("web.tracking.maxSpoolMb", unit: "MiB", .integer(\.web.tracking.maxSpoolMb, 1...1_000_000)),
    ]
}

extension Settings {
    /// At most a century.
    private static let days = 0...36_500

    static let feedbackDefinitions: [SettingDefinition] = [
        .init(
            "feedback.shareWhileSendingPercent",
            unit: "percent",
            .integer(\.feedback.shareWhileSendingPercent, 1...100)
        ),
        .init("feedback.retention.broadLogDays", unit: "days", .integer(\.feedback.retention.broadLogDays, days)),
        .init("feedback.retention.trackingLogDays", unit: "days", .integer(\.feedback.retention.trackingLogDays, days)),
        .init(
            "feedback.retention.exclusionLogDays",
            unit: "days",
            .integer(\.feedback.retention.exclusionLogDays, days)
        ),
        .init("feedback.retention.tokenEventDays", unit: "days", .integer(\.feedback.retention.tokenEventDays, days)),
        .init(
            "feedback.retention.disabledSubscriptionDays",
            unit: "days",
            .integer(\.feedback.retention.disabledSubscriptionDays, days)
        ),
        .init("feedback.webhooks.allowedHosts", unit: "addresses", .text(\.feedback.webhooks.allowedHosts)),
        .init(
            "feedback.webhooks.allowPrivateAddresses",
            unit: "true or false",
            .flag(\.feedback.webhooks.allowPrivateAddresses)
        ),
        .init("feedback.webhooks.timeoutSec", unit: "seconds", .integer(\.feedback.webhooks.timeoutSec, 1...60)),
        .init("feedback.webhooks.caFile", unit: "path", .text(\.feedback.webhooks.caFile)),
    ]
}

extension Settings {
    static let metricsDefinitions: [SettingDefinition] = [
        .init("metrics.address", unit: "IP address", .text(\.metrics.address)),
        .init("metrics.supervisorPort", unit: "port", .integer(\.metrics.supervisorPort, 0...65_535)),
        .init("metrics.feedbackPort", unit: "port", .integer(\.metrics.feedbackPort, 0...65_535)),
        .init("metrics.webPort", unit: "port", .integer(\.metrics.webPort, 0...65_535)),
        .init("metrics.consolePort", unit: "port", .integer(\.metrics.consolePort, 0...65_535)),
    ]
}
