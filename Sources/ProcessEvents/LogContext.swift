import Logging
import Synchronization

/// Metadata for log lines that becomes known after the logger was created: the names of application and account.
package final class LogContext: Sendable {
    private let values = Mutex<Logger.Metadata>([:])

    /// Creates an empty context.
    package init() {}

    /// Sets the value of a key for all later lines.
    package func set(_ key: String, _ value: String) {
        values.withLock { $0[key] = "\(value)" }
    }

    /// The metadata provider for a logger.
    package var provider: Logger.MetadataProvider {
        Logger.MetadataProvider { [self] in values.withLock { $0 } }
    }
}
