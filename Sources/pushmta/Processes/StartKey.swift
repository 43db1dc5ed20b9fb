import Administration
import Foundation
import Gateways
import Logging
import ProcessEvents
import PushCore

/// The key that seals credentials, checked when a process starts.
enum StartKey {
    /// Throws a `CommandFailure` of code `configuration` if the settings name a key that cannot be used. Otherwise
    /// every child would fail on its own, and no message would leave. A missing key is only logged, as the host may
    /// not have any credentials to open yet.
    static func require(_ settings: Settings, _ logger: Logger) throws {
        do {
            guard let problem = try problem(settings) else { return }
            logger.event(.keyUnreadable, "\(problem)", level: .warning)
        } catch {
            logger.event(.keyUnreadable, "\(error)")
            throw CommandFailure(.configuration, "\(error)")
        }
    }

    /// Logs that the key named in the settings cannot be used. The process runs without it, and some of its work
    /// waits.
    static func report(_ settings: Settings, _ logger: Logger) {
        do {
            _ = try problem(settings)
        } catch {
            logger.event(.keyUnreadable, "\(error)")
        }
    }

    /// What to report if no key is named; nil if there is a usable one.
    private static func problem(_ settings: Settings) throws -> String? {
        let environment = ProcessInfo.processInfo.environment
        guard let source = CredentialKeySource(settings, environment: environment) else {
            do {
                _ = try CredentialKeySource.load(settings, environment: environment)
                return nil
            } catch {
                return "No credential can be opened on this host: \(error)"
            }
        }
        _ = try source.load()
        return nil
    }
}
