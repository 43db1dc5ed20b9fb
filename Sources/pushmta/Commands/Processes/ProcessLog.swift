import Logging
import PushCore

/// The log of a process, on standard error.
enum ProcessLog {
    /// A logger at the level of the settings.
    static func logger(_ label: String, _ settings: Settings) -> Logger {
        var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = Logger.Level(rawValue: settings.log.level) ?? .info
        return logger
    }
}
