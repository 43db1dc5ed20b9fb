import PushCore
import Store

/// What was measured between the start of a delivery and its end.
struct DeliveryBenchRun: Sendable {
    /// The delivery's last counts.
    let progress: DeliveryProgress
    /// When each stage was reached.
    let stages: DeliveryStages
    /// The CPU time of each kind of process, in seconds.
    let cpu: [(name: String, seconds: Double)]
    /// The WAL that the database wrote, in bytes.
    let walBytes: Int64
    /// The most memory that a child had in RAM, in bytes.
    let peakChildResidentBytes: Int64
}
