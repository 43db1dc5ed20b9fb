/// A table whose partitions are dropped when they are old enough.
public enum PartitionedTable: String, Sendable, Hashable, CaseIterable {
    /// The outcomes of messages.
    case broadLog = "broad_log"
    /// Who each message is for.
    case partTarget = "delivery_part_target"
    /// Receipts and clicks.
    case trackingLog = "tracking_log"
    /// Who was left out, and why.
    case exclusionLog = "exclusion_log"
}
