/// The settings of every PushMTA process, each with its default.
///
/// Names are those of Adobe Campaign's `serverConf.xml` where the thing is the same. `Settings.definitions` lists every key
/// with its unit and range; `Config/pushmta.yaml` shows the same keys with the reason for each default.
public struct Settings: Sendable, Equatable {
    public var database = DatabaseSettings()
    /// The file that holds the key under which gateway credentials are sealed in the database. Empty: none, so that no
    /// credential can be set or opened.
    public var credentialKeyFile = ""
    /// What is written to standard error.
    public var log = LogSettings()
    /// The delivery engine: supervisor and MTA children.
    public var mta = MTASettings()
    /// What concerns the mobile gateways themselves.
    public var nmac = NMACSettings()
    /// The web process: registration and tracking of devices.
    public var web = WebSettings()
    /// The console: pages for people.
    public var console = ConsoleSettings()
    /// The feedback worker: token events, statistics, retention.
    public var feedback = FeedbackSettings()
    /// Where the processes serve their metrics.
    public var metrics = MetricsSettings()

    /// Creates the settings with their defaults.
    public init() {}
}

/// Where the database is and how long one statement may take.
public struct DatabaseSettings: Sendable, Equatable {
    /// The libpq connection string or URI. Empty: libpq's own environment (`PGHOST`, `PGSERVICE`, …).
    public var url = ""
    /// Where ``url`` was set, for messages.
    public var origin = SettingOrigin(
        "database.url, which is not set: libpq's variables (PGHOST and so on) and defaults count"
    )
    /// The longest time of one statement, in seconds (0 = no limit).
    public var statementTimeoutSec = 60

    /// Creates the settings with their defaults.
    public init() {}
}

/// Where the value of a setting came from, for messages. It makes no settings different: any two are equal.
public struct SettingOrigin: Sendable, Equatable {
    /// The setting and the file, variable or flag, as in "database.url (file /etc/pushmta/pushmta.yaml)".
    public var text: String

    public init(_ text: String) {
        self.text = text
    }

    public static func == (_: Self, _: Self) -> Bool { true }
}

/// What is written to standard error.
public struct LogSettings: Sendable, Equatable {
    /// The least serious level that is written: trace, debug, info, notice, warning, error or critical.
    public var level = "info"
    /// How a line is written: text, for people, or json, an object a line.
    public var format = "text"

    /// Creates the settings with their defaults.
    public init() {}
}

/// Where the processes serve their metrics for Prometheus; never on a port that devices reach.
public struct MetricsSettings: Sendable, Equatable {
    /// The IP address that all of them listen on.
    public var address = "127.0.0.1"
    /// The port of the supervisor, whose page has its children's figures, too; 0 = none.
    public var supervisorPort = 9741
    /// The port of the feedback worker; 0 = none.
    public var feedbackPort = 9742
    /// The port of the web process; 0 = none.
    public var webPort = 9743
    /// The port of the console; 0 = none.
    public var consolePort = 9744

    /// Creates the settings with their defaults.
    public init() {}

    /// The settings under which no process serves metrics.
    public static var off: MetricsSettings {
        var settings = MetricsSettings()
        settings.supervisorPort = 0
        settings.feedbackPort = 0
        settings.webPort = 0
        settings.consolePort = 0
        return settings
    }
}

/// The feedback worker: token events, statistics, retention.
public struct FeedbackSettings: Sendable, Equatable {
    /// How much of the time it works while messages are sent, in percent of one processor.
    public var shareWhileSendingPercent = 20
    /// How long things are kept.
    public var retention = FeedbackRetentionSettings()

    /// Creates the settings with their defaults.
    public init() {}
}

/// How long the feedback worker keeps things, in days; 0: forever.
public struct FeedbackRetentionSettings: Sendable, Equatable {
    /// The outcome of each message, and whom it was for.
    public var broadLogDays = 180
    /// Receipts and clicks.
    public var trackingLogDays = 180
    /// Who was left out of a delivery, and why.
    public var exclusionLogDays = 180
    /// What was said about tokens and was decided.
    public var tokenEventDays = 180
    /// Subscriptions that were disabled and not opted out (Adobe's option `NmsCleanup_AppSubscriptionRcpPurgeDelay`).
    public var disabledSubscriptionDays = 180

    /// Creates the settings with their defaults.
    public init() {}
}
