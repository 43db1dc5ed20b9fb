import Logging
import PushCore
import Store

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The configuration of a feedback worker.
package struct FeedbackSetup: Sendable {
    /// Opens one connection to the database. The role ("feedback-heartbeat", "feedback", "feedback-second",
    /// "feedback-reader", "feedback-spools", "feedback-webhooks") becomes part of its application name.
    package typealias Connect = @Sendable (_ role: String) async throws -> Store

    /// The settings of all processes.
    package var settings: Settings
    /// Opens a connection; called again with growing pauses while it throws.
    package var connect: Connect
    package var hostName: String
    package var version: String
    package var logger: Logger
    /// The environment variables, for systemd's credentials and for a proxy.
    package var environment = ProcessInfo.processInfo.environment
    /// How long the active worker may be silent before another one acts, in seconds.
    package var leaseSeconds = Store.feedbackLeaseSeconds

    package init(
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
