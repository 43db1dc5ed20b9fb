import Foundation

/// Keeps the memory of this process and its children out of files, because it contains keys and credentials.
package enum CoreDumps {
    /// Sets the core file limit to 0. That limit does not apply when the system pipes dumps to a program (core(5)), so
    /// this also excludes all memory from such dumps. Children inherit both.
    package static func forbid() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // The file does not exist in kernels without core dumps.
        try? "0".write(toFile: "/proc/self/coredump_filter", atomically: false, encoding: .utf8)
        #else
        _ = setrlimit(RLIMIT_CORE, &none)
        #endif
    }
}
