import Administration
import PushCore

/// The minimum number of open files for each process. Below it, a library could end the process in the middle of its
/// work.
enum OpenFiles {
    /// What every process opens: database connections with their events, event loops, logs, a journal, and
    /// short-lived files of libraries. An idle process has some 30.
    static let base = 64
    /// The pipes, process descriptor and lock of a child, with the other ends of its pipes while it is started.
    private static let perChild = 12
    /// A connection and its replacement, each while two addresses of a name are tried.
    private static let perConnection = 4

    /// What a supervisor with these settings needs: at least as many as its children, which inherit its limit.
    static func supervisor(_ settings: Settings) -> Int {
        let master = settings.mta.master
        return max(base + perChild * (master.maxSpareServers + master.maxSmallChildren), child(settings))
    }

    /// What a child with these settings needs.
    static func child(_ settings: Settings) -> Int {
        let child = settings.mta.child
        return base + perConnection * max(child.maxAPNsConnectPerChild, child.maxGCMConnectPerChild)
    }

    /// Throws a `CommandFailure` of code `configuration` if the process may open fewer files.
    static func check(_ process: String, _ needed: Int) throws {
        guard let text = DescriptorLimit.shortage(of: needed, for: process) else { return }
        throw CommandFailure(.configuration, text)
    }
}
