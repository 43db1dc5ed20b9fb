#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The numbers of the signals that the supervisor deals with.
enum Signals {
    static let terminate: Int32 = SIGTERM
    static let kill: Int32 = SIGKILL
    /// Signals with which the system ends a program for what it did itself.
    static let crashes: Set<Int32> = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]
}
