import Administration
import Foundation
import Logging
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
        max(base + perChild * settings.mta.master.maxSpareServers, child(settings))
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

/// The log of a process, on standard error.
enum ProcessLog {
    /// A logger at the level of the settings.
    static func logger(_ label: String, _ settings: Settings) -> Logger {
        var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = Logger.Level(rawValue: settings.log.level) ?? .info
        return logger
    }
}

/// Keeps the memory of this process, and of those that it starts, out of files: keys and credentials are in it.
enum CoreDumps {
    /// Allows no core file, and puts no memory into what a program gets to which the system pipes dumps, for which the limit does not count
    /// (core(5)). Both are inherited, so that supervisors do it for their children.
    static func forbid() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // There is none in a kernel that writes no dumps at all.
        try? "0".write(toFile: "/proc/self/coredump_filter", atomically: false, encoding: .utf8)
        #else
        _ = setrlimit(RLIMIT_CORE, &none)
        #endif
    }
}
