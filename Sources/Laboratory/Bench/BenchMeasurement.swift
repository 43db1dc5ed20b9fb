#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The measurements of one timed run.
struct BenchMeasurement: Sendable {
    var requests: Int
    /// Wall time.
    var seconds: Double
    /// User and system time of the measured process.
    var cpuSeconds: Double
    /// Requests that were not answered with 200.
    var failed: Int

    var requestsPerSecond: Double { Double(requests) / seconds }
    var cpuMicrosecondsPerRequest: Double { cpuSeconds / Double(requests) * 1e6 }

    /// The measurement with the median rate.
    static func median(_ measurements: [BenchMeasurement]) -> BenchMeasurement {
        measurements.sorted { $0.requestsPerSecond < $1.requestsPerSecond }[measurements.count / 2]
    }

    #if canImport(Glibc)
    static let ownProcess = RUSAGE_SELF.rawValue
    static let endedChildren = RUSAGE_CHILDREN.rawValue
    #else
    static let ownProcess = RUSAGE_SELF
    static let endedChildren = RUSAGE_CHILDREN
    #endif

    /// The CPU time so far of this process, or of its children that have ended, in seconds.
    static func cpuSeconds(_ who: Int32) -> Double {
        var usage = rusage()
        getrusage(who, &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}
