// OperatingSystem: what the operating system gives, for every target above.
//
// WHAT IT DOES
//   Locks files (FileLock), starts detached threads (DetachedThread), tells the figures of machine and process (Machine) and
//   the identity of the running boot (BootID).
//
// HOW IT IS USED
//   FileLock.acquire(_:create:) gives an object that holds the lock as long as it lives: the supervisor's folder, journals,
//   spools and the key file are guarded so. DetachedThread.start runs one closure beside the pool of tasks, for C libraries that
//   wait: libpq's loop, libcurl's worker. Machine and BootID are functions.
//
// STATE AND FILES
//   A lock belongs to its open file and ends with the process, however that ends. Nothing is written.
//
// FAILURES
//   A figure that the system does not tell is 0, an identity nil. A lock that somebody else holds is nil; a file that cannot be
//   opened or locked is an Errno.
//
// SEE ALSO
//   FileLock.swift, DetachedThread.swift, BootID.swift

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Figures of the machine and of this process; 0 where the system does not tell.
public enum Machine {
    /// The load average of the last minute.
    public static func load() -> Double {
        var loads = [0.0]
        return getloadavg(&loads, 1) == 1 ? loads[0] : 0
    }

    /// The bytes that an ordinary user can still write to the disk that holds a path.
    public static func freeBytes(at path: String) -> Int64 {
        var figures = statvfs()
        guard statvfs(path, &figures) == 0 else { return 0 }
        return Int64(clamping: UInt64(figures.f_bavail) * UInt64(figures.f_frsize))
    }

    /// The size of a file in bytes.
    public static func fileBytes(at path: String) -> Int64 {
        var figures = stat()
        return stat(path, &figures) == 0 ? Int64(figures.st_size) : 0
    }

    /// The resident memory of this process in bytes: that of now on Linux, the most so far elsewhere.
    public static func residentBytes() -> Int64 {
        #if os(Linux)
        // The second figure, in pages.
        guard let data = FileManager.default.contents(atPath: "/proc/self/statm") else { return 0 }
        let figures = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard figures.count > 1, let pages = Int64(figures[1]) else { return 0 }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
        #else
        var usage = rusage()
        getrusage(RUSAGE_SELF, &usage)
        return Int64(usage.ru_maxrss)
        #endif
    }
}
