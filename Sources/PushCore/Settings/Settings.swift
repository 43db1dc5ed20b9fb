/// The settings of every PushMTA process, each with its default.
///
/// Names are those of Adobe Campaign's `serverConf.xml` where the thing is the same. `Settings.definitions` lists every key
/// with its unit and range; `Config/pushmta.yaml` shows the same keys with the reason for each default.
public struct Settings: Sendable, Equatable {
    /// Where the database is.
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
    /// The feedback worker: token events, statistics, retention.
    public var feedback = FeedbackSettings()

    /// Creates the settings with their defaults.
    public init() {}
}
