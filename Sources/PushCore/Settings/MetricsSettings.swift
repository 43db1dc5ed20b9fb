/// Where the processes serve their metrics for Prometheus. Devices must not be able to reach these ports.
package struct MetricsSettings: Sendable, Equatable {
    /// The IP address that all of them listen on.
    package var address = "127.0.0.1"
    /// The port of the supervisor, whose page includes its children's metrics; 0 = none.
    package var supervisorPort = 9741
    /// The port of the feedback worker; 0 = none.
    package var feedbackPort = 9742
    /// The port of the web process; 0 = none.
    package var webPort = 9743
    /// The port of the console; 0 = none.
    package var consolePort = 9744

    /// Creates the settings with their defaults.
    package init() {}

    /// The settings under which no process serves metrics.
    package static var off: MetricsSettings {
        var settings = MetricsSettings()
        settings.supervisorPort = 0
        settings.feedbackPort = 0
        settings.webPort = 0
        settings.consolePort = 0
        return settings
    }
}
