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

/// What a process has used so far.
public struct ProcessFigures: Sendable, Equatable {
    /// Processor time in seconds, of the process itself.
    public var cpuSeconds: Double
    public var residentBytes: Int64
    /// Descriptors that are open; 0 where the system does not tell.
    public var openDescriptors: Int
    /// Descriptors that it may open.
    public var mostDescriptors: Int
    /// When it was started, in seconds since 1970; 0 where the system does not tell.
    public var startSeconds: Double

    /// The figures of this process, now.
    public static func current() -> ProcessFigures {
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
            mostDescriptors: Int(clamping: limit.rlim_cur),
            startSeconds: started
        )
    }

    /// Processor time of this process so far, in seconds.
    public static func cpu() -> Double {
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

    /// It does not change, so it is read once.
    private static let started: Double = {
        // Field 22 of stat(5): ticks since the boot. The name before it may hold anything, but ends with the last bracket.
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
