import Store

/// When a delivery reached each of its stages, in seconds of the database's clock after its start.
struct DeliveryStages: Sendable {
    /// The first outcome was seen in the counts.
    private(set) var firstOutcome: Double?
    /// All parts were seen to be made.
    private(set) var prepared: Double?
    /// The last outcome was stored.
    var lastOutcome: Double?

    /// Notes what is new in these counts.
    mutating func note(_ progress: DeliveryProgress) {
        guard let start = progress.startedAt else { return }
        let seconds = Double(progress.now.microsecondsSince1970 - start.microsecondsSince1970) / 1_000_000
        if firstOutcome == nil, progress.target > progress.pending { firstOutcome = seconds }
        if prepared == nil, progress.prepared { prepared = seconds }
    }
}
