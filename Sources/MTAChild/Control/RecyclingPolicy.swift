import ProcessProtocol
import PushCore

/// When a child has served long enough: by count, age, idle time and memory.
struct RecyclingPolicy: Sendable {
    var settings: ChildSettings

    /// - Parameters:
    ///   - age: since the start of the process.
    ///   - idle: since the child last held a part.
    ///   - isGatewayWell: whether the gateway takes messages. One that waits for it stays: the next child would begin the pauses
    ///     between attempts to connect anew. What has changed of account or credential the supervisor notices, and replaces it.
    func reason(
        settled: Int64,
        age: Duration,
        idle: Duration,
        residentBytes: Int64,
        isGatewayWell: Bool = true
    ) -> ChildExitReason? {
        if settled >= Int64(settings.maxMsgPerChild) { return .messageLimit }
        if residentBytes > Int64(settings.maxWorkingSetMb) * 1_024 * 1_024 { return .memoryLimit }
        guard isGatewayWell else { return nil }
        if age >= .seconds(settings.maxAgeSec) { return .ageLimit }
        if idle >= .seconds(settings.idleChildTimeoutSec) { return .idle }
        return nil
    }
}
