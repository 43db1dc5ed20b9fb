import Foundation

/// The maximum number of files and connections that this process may have open at once.
package enum DescriptorLimit {
    /// The default of Linux's fs.nr_open, the upper bound for a process.
    private static let maximum: rlim_t = 1_048_576

    #if canImport(Glibc)
    private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let kind = RLIMIT_NOFILE
    #endif

    /// The current limit. It is unlimited if the system does not report it, which no known system does.
    package static var current: Int { limit.map { Int(clamping: $0.rlim_cur) } ?? .max }

    /// Raises the soft limit as far as an unprivileged process may.
    ///
    /// Shells and service managers set a low soft limit for programs that use `select`, and leave it to other programs
    /// to raise it.
    package static func raise() {
        guard var limit else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, maximum))
        _ = setrlimit(kind, &limit)
    }

    /// A message if a process may open fewer files than it needs; nil if the limit is high enough. The system's
    /// libraries crash a process that runs out of files.
    package static func shortage(of needed: Int, limit: Int = current, for process: String) -> String? {
        guard limit < needed else { return nil }
        return "The \(process) may have \(limit) files open at once, and needs \(needed): raise the limit "
            + "(ulimit -n, or LimitNOFILE= of the service)."
    }

    private static var limit: rlimit? {
        var limit = rlimit()
        return getrlimit(kind, &limit) == 0 ? limit : nil
    }
}
