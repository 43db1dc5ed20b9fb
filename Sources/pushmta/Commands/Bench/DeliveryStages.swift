import Store

/// When a delivery reached each of its stages, in seconds of the database's clock after its start.
struct DeliveryStages: Sendable {
    /// The first outcome was stored.
    private(set) var firstOutcome: Double?
    /// All parts were made.
    private(set) var prepared: Double?
    /// The last outcome was stored and the delivery ended.
    private(set) var finished: Double?

    /// Notes what is new in these counts.
    mutating func note(_ progress: DeliveryProgress) {
        guard let start = progress.startedAt else { return }
        let seconds = Double(progress.now.microsecondsSince1970 - start.microsecondsSince1970) / 1_000_000
        if firstOutcome == nil, progress.target > progress.pending { firstOutcome = seconds }
        if prepared == nil, progress.prepared { prepared = seconds }
        if finished == nil, let end = progress.finishedAt {
            finished = Double(end.microsecondsSince1970 - start.microsecondsSince1970) / 1_000_000
        }
    }
}
