import Foundation

/// How many files and connections this process may have open at once.
public enum DescriptorLimit {
    /// The default of Linux's fs.nr_open, above which no process comes.
    private static let most: rlim_t = 1_048_576

    #if canImport(Glibc)
    private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let kind = RLIMIT_NOFILE
    #endif

    /// What it may have now; that it cannot be told is not known of any system.
    public static var current: Int { limit.map { Int(clamping: $0.rlim_cur) } ?? .max }

    /// Raises the limit as far as the process may by itself: shells and service managers set a low one for programs that number
    /// their files with few bits, and leave the raising to all others.
    public static func raise() {
        guard var limit else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, most))
        _ = setrlimit(kind, &limit)
    }

    /// What to say if a process may open fewer files than it needs; nil if there are enough. The system's own libraries end a process
    /// that is short of them.
    public static func shortage(of needed: Int, limit: Int = current, for process: String) -> String? {
        guard limit < needed else { return nil }
        return "The \(process) may have \(limit) files open at once, and needs \(needed): raise the limit "
            + "(ulimit -n, or LimitNOFILE= of the service)."
    }

    private static var limit: rlimit? {
        var limit = rlimit()
        return getrlimit(kind, &limit) == 0 ? limit : nil
    }
}
