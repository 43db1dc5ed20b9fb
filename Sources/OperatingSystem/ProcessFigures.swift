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

/// The resources used by a process.
package struct ProcessFigures: Sendable, Equatable {
    /// The processor time of the process itself, in seconds.
    package var cpuSeconds: Double
    package var residentBytes: Int64
    /// The number of open descriptors; 0 where the system does not provide it.
    package var openDescriptors: Int
    /// The maximum number of open descriptors.
    package var maxDescriptors: Int
    /// When it was started, in seconds since 1970; 0 where the system does not provide it.
    package var startSeconds: Double

    /// The current figures of this process.
    package static func current() -> ProcessFigures {
        var limit = rlimit()
        #if canImport(Glibc)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
        getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        return ProcessFigures(
            cpuSeconds: cpu(),
            residentBytes: Machine.residentBytes(),
            openDescriptors: (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0,
            maxDescriptors: Int(clamping: limit.rlim_cur),
            startSeconds: started
        )
    }

    /// The processor time of this process so far, in seconds.
    package static func cpu() -> Double {
        var usage = rusage()
        #if canImport(Glibc)
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
        getrusage(RUSAGE_SELF, &usage)
        #endif
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    /// The start of the process; constant, so it is read once.
    private static let started: Double = {
        // Field 22 of stat(5): ticks since boot. The name before it may contain any character, but ends at the last
        // bracket.
        guard let data = FileManager.default.contents(atPath: "/proc/self/stat"),
            let boot = FileManager.default.contents(atPath: "/proc/stat")
        else { return 0 }
        let fields = String(decoding: data, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
        let lines = String(decoding: boot, as: UTF8.self).split(separator: "\n")
        let bootTime = lines.first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
        guard fields.count > 19, let ticks = Double(fields[19]), let bootTime else { return 0 }
        return bootTime + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()
}
