#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Figures of the machine and of this process; 0 where the system does not tell.
enum Machine {
    /// Load average of the last minute.
    static func load() -> Double {
        var loads = [0.0]
        return getloadavg(&loads, 1) == 1 ? loads[0] : 0
    }

    /// Bytes that an ordinary user can still write to the disk that holds a path.
    static func freeBytes(at path: String) -> Int64 {
        var figures = statvfs()
        guard statvfs(path, &figures) == 0 else { return 0 }
        return Int64(clamping: UInt64(figures.f_bavail) * UInt64(figures.f_frsize))
    }

    /// Resident memory of this process in bytes: the second figure of `/proc/self/statm`, in pages.
    static func residentBytes() -> Int64 {
        guard let data = FileManager.default.contents(atPath: "/proc/self/statm") else { return 0 }
        let figures = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard figures.count > 1, let pages = Int64(figures[1]) else { return 0 }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
