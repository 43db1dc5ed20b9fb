import ProcessProtocol
import PushCore

/// When a child has served long enough: by count, age, idle time and memory.
struct RecyclingPolicy: Sendable {
    var settings: ChildSettings

    /// - Parameters:
    ///   - age: since the start of the process.
    ///   - idle: since the child last held a part.
    func reason(settled: Int64, age: Duration, idle: Duration, residentBytes: Int64) -> ChildExitReason? {
        if settled >= Int64(settings.maxMsgPerChild) { return .messageLimit }
        if residentBytes > Int64(settings.maxWorkingSetMb) * 1_024 * 1_024 { return .memoryLimit }
        if age >= .seconds(settings.maxAgeSec) { return .ageLimit }
        if idle >= .seconds(settings.idleChildTimeoutSec) { return .idle }
        return nil
    }
}
