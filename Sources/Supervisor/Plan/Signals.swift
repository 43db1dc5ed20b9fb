#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The numbers of the signals that the supervisor deals with.
enum Signals {
    static let terminate: Int32 = SIGTERM
    static let kill: Int32 = SIGKILL
}
