import Logging
import Synchronization

/// What lines of a log are about, where it becomes known after the logger was made: the names of application and account.
public final class LogContext: Sendable {
    private let values = Mutex<Logger.Metadata>([:])

    /// One that knows nothing yet.
    public init() {}

    /// From now on every line has this value under the key.
    public func set(_ key: String, _ value: String) {
        values.withLock { $0[key] = "\(value)" }
    }

    /// What a logger asks for each of its lines.
    public var provider: Logger.MetadataProvider {
        Logger.MetadataProvider { [self] in values.withLock { $0 } }
    }
}
