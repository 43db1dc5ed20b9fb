// OperatingSystem: access to the operating system for all targets above it.
//
// WHAT IT DOES
//   Locks files (FileLock), starts detached threads (DetachedThread), switches users (MachineUser), and notifies the
//   service manager (ServiceManager). Reads figures of the machine and the process (Machine, ProcessFigures) and the id
//   of the boot (BootID).
//
// HOW IT IS USED
//   FileLock.acquire(_:create:) returns an object that holds the lock until it is deallocated. It guards the
//   supervisor's folder, journals, spools and the key file. DetachedThread.start runs a closure outside the task pool,
//   for C libraries that block: libpq's loop and libcurl's worker. Machine and BootID are functions.
//
// STATE AND FILES
//   A lock belongs to its open file and ends with the process, however that ends.
//
// FAILURES
//   A figure that the system does not provide is 0, an identity nil. A lock held by another process is nil. A file that
//   cannot be opened or locked is an Errno.
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

/// Figures of the machine and of this process; 0 where the system does not provide them.
package enum Machine {
    /// The load average of the last minute.
    package static func load() -> Double {
        var loads = [0.0]
        return getloadavg(&loads, 1) == 1 ? loads[0] : 0
    }

    /// The bytes that an ordinary user can still write to the disk of a path.
    package static func freeBytes(at path: String) -> Int64 {
        var figures = statvfs()
        guard statvfs(path, &figures) == 0 else { return 0 }
        return Int64(clamping: UInt64(figures.f_bavail) * UInt64(figures.f_frsize))
    }

    /// The size of a file in bytes.
    package static func fileBytes(at path: String) -> Int64 {
        var figures = stat()
        return stat(path, &figures) == 0 ? Int64(figures.st_size) : 0
    }

    /// The resident memory of this process in bytes: the current value on Linux, the maximum so far elsewhere.
    package static func residentBytes() -> Int64 {
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
