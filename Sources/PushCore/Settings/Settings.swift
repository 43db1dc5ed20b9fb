/// The settings of every PushMTA process, each with its default.
///
/// A setting that Adobe Campaign's `serverConf.xml` also has keeps its name there. `Settings.definitions` lists every
/// key with its unit and range; `Config/pushmta.yaml` shows the same keys with the reason for each default.
package struct Settings: Sendable, Equatable {
    package var database = DatabaseSettings()
    /// The file with the key that seals gateway credentials in the database. Empty: no credential can be set or opened.
    package var credentialKeyFile = ""
    /// What is written to standard error.
    package var log = LogSettings()
    /// The delivery engine: supervisor and MTA children.
    package var mta = MTASettings()
    /// The mobile gateways.
    package var nmac = NMACSettings()
    /// The web process: registration and tracking of devices.
    package var web = WebSettings()
    /// The console: web pages for operators.
    package var console = ConsoleSettings()
    /// The feedback worker: token events, statistics, retention.
    package var feedback = FeedbackSettings()
    /// Where the processes serve their metrics.
    package var metrics = MetricsSettings()

    /// Creates the settings with their defaults.
    package init() {}
}

/// Where the database is and how long one statement may take.
package struct DatabaseSettings: Sendable, Equatable {
    /// The libpq connection string or URI. Empty: libpq's own environment (`PGHOST`, `PGSERVICE`, …).
    package var url = ""
    /// Where ``url`` was set, for messages.
    package var origin = SettingOrigin(
        "database.url, which is not set: libpq's variables (PGHOST and so on) and defaults count"
    )
    /// The maximum time of one statement, in seconds (0 = no limit).
    package var statementTimeoutSec = 60

    /// Creates the settings with their defaults.
    package init() {}
}

/// Where the value of a setting came from, for messages. Any two origins are equal, so that they do not affect the
/// comparison of settings.
package struct SettingOrigin: Sendable, Equatable {
    /// The setting and the file, variable or flag, as in "database.url (file /etc/pushmta/pushmta.yaml)".
    package var text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (_: Self, _: Self) -> Bool { true }
}

/// What is written to standard error.
package struct LogSettings: Sendable, Equatable {
    /// The least serious level that is written: trace, debug, info, notice, warning, error or critical.
    package var level = "info"
    /// The format of a line: text, for people, or json, one object a line.
    package var format = "text"

    /// Creates the settings with their defaults.
    package init() {}
}

/// The feedback worker: token events, statistics, retention.
package struct FeedbackSettings: Sendable, Equatable {
    /// The share of one processor that it may use while messages are sent, in percent.
    package var shareWhileSendingPercent = 20
    /// How long records are kept.
    package var retention = FeedbackRetentionSettings()
    /// Where events may be posted.
    package var webhooks = FeedbackWebhookSettings()

    /// Creates the settings with their defaults.
    package init() {}
}

/// Where the feedback worker may post events, and how.
package struct FeedbackWebhookSettings: Sendable, Equatable {
    /// The hosts that webhooks may post to, separated by commas or spaces; empty = none.
    package var allowedHosts = ""
    /// Whether these hosts may have addresses of private networks.
    package var allowPrivateAddresses = false
    /// The maximum time for a request, in seconds.
    package var timeoutSec = 10
    /// A PEM file with the only authorities that are trusted; empty = the system's.
    package var caFile = ""

    /// Creates the settings with their defaults.
    package init() {}
}

/// How long the feedback worker keeps records, in days; 0 = forever.
package struct FeedbackRetentionSettings: Sendable, Equatable {
    /// The outcome and recipient of each message.
    package var broadLogDays = 180
    /// Receipts and clicks.
    package var trackingLogDays = 180
    /// The people who were excluded from a delivery, and why.
    package var exclusionLogDays = 180
    /// Resolved token events.
    package var tokenEventDays = 180
    /// Subscriptions that were disabled and not opted out (Adobe's option `NmsCleanup_AppSubscriptionRcpPurgeDelay`).
    package var disabledSubscriptionDays = 180

    /// Creates the settings with their defaults.
    package init() {}
}
