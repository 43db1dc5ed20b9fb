import Foundation

/// Keeps the memory of this process, and of those that it starts, out of files: keys and credentials are in it.
package enum CoreDumps {
    /// Allows no core file, and puts no memory into what a program gets to which the system pipes dumps, for which the limit does not count
    /// (core(5)). Both are inherited, so that supervisors do it for their children.
    package static func forbid() {
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
