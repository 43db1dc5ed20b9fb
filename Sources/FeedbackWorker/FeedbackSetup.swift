import Logging
import PushCore
import Store

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a feedback worker is made from.
public struct FeedbackSetup: Sendable {
    /// Opens one connection to the database; the role ("feedback-beat", "feedback", "feedback-second", "feedback-reader", "feedback-spools") goes into its application name.
    public typealias Connect = @Sendable (_ role: String) async throws -> Store

    /// The settings of all processes.
    public var settings: Settings
    /// How it connects; called again with growing pauses as long as it throws.
    public var connect: Connect
    /// This host's name.
    public var hostName: String
    /// The program's version.
    public var version: String
    /// Its log.
    public var logger: Logger
    /// The process's variables, for systemd's credentials and for a proxy.
    public var environment = ProcessInfo.processInfo.environment
    /// How long nothing may be heard of the worker that acts until another one does, in seconds.
    public var leaseSeconds = Store.feedbackLeaseSeconds

    /// Describes a worker.
    public init(
        settings: Settings,
        connect: @escaping Connect,
        hostName: String,
        version: String,
        logger: Logger
    ) {
        self.settings = settings
        self.connect = connect
        self.hostName = hostName
        self.version = version
        self.logger = logger
    }
}
