#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The kernel's count of processes that it killed because memory was short.
enum OutOfMemoryKills {
    /// The count since the machine started, over all processes; nil where the kernel does not tell.
    ///
    /// `oom_kill` in `/proc/vmstat` (Linux 4.13 and later) counts the kills of memory cgroups, too.
    static func count() -> Int64? {
        guard let data = FileManager.default.contents(atPath: "/proc/vmstat") else { return nil }
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") where line.hasPrefix("oom_kill ") {
            return Int64(line.dropFirst("oom_kill ".count))
        }
        return nil
    }
}
