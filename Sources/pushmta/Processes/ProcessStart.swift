import Administration
import Foundation
import Gateways
import Logging
import ProcessEvents
import PushCore

/// How many files the processes need at least: short of them, a library would end the process in the middle of its work.
enum OpenFiles {
    /// What every process has: connections to the database with their events, event loops, logs, a journal, and what libraries open for a
    /// moment. Idle ones have some 30.
    static let base = 64
    /// Pipes, process descriptor and lock of a child, with the other ends of its pipes while it is started.
    private static let perChild = 12
    /// A connection and the one that takes its place, each while two addresses of a name are tried.
    private static let perConnection = 4

    /// What a supervisor with these settings needs: no less than its children, which have its limit.
    static func supervisor(_ settings: Settings) -> Int {
        let master = settings.mta.master
        return max(base + perChild * (master.maxSpareServers + master.maxSmallChildren), child(settings))
    }

    /// What a child with these settings needs.
    static func child(_ settings: Settings) -> Int {
        let child = settings.mta.child
        return base + perConnection * max(child.maxAPNsConnectPerChild, child.maxGCMConnectPerChild)
    }

    /// Throws a `CommandFailure` of code `configuration` if the process may open fewer.
    static func check(_ process: String, _ needed: Int) throws {
        guard let text = DescriptorLimit.shortage(of: needed, for: process) else { return }
        throw CommandFailure(.configuration, text)
    }
}

/// The key under which credentials are sealed, as a process finds it at its start.
enum StartKey {
    /// Throws a `CommandFailure` of code `configuration` if the settings name a key that cannot be used: every child would find that
    /// out for itself, and no message would leave. Without any key it says so in the log, as a host may have nothing to open yet.
    static func require(_ settings: Settings, _ logger: Logger) throws {
        do {
            guard let problem = try problem(settings) else { return }
            logger.event(.keyUnreadable, "\(problem)", level: .warning)
        } catch {
            logger.event(.keyUnreadable, "\(error)")
            throw CommandFailure(.configuration, "\(error)")
        }
    }

    /// Says in the log if the key that the settings name cannot be used: the process does without, and some of its work waits.
    static func report(_ settings: Settings, _ logger: Logger) {
        do {
            _ = try problem(settings)
        } catch {
            logger.event(.keyUnreadable, "\(error)")
        }
    }

    /// What is to be known of a key that nobody named; nil if there is one that can be used.
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
