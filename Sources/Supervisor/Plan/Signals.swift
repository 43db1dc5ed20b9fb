#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The signals that the supervisor uses.
enum Signals {
    static let terminate: Int32 = SIGTERM
    static let kill: Int32 = SIGKILL
    /// Signals that the system sends for a program's own fault.
    static let crashes: Set<Int32> = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]
}
