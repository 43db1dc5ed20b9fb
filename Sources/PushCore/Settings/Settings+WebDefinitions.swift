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
