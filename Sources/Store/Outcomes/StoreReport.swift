/// The result of storing an outcome batch; when it is returned, the transaction is committed.
package struct StoreReport: Sendable {
    /// Rows written by this call.
    package var inserted: Int = 0
    /// Rows that existed already (a repeat after a lost COMMIT reply, or a fact that another process stored).
    package var existed: Int = 0
    /// Parts that this owner no longer holds, one entry for each lost token: decide nothing about them; their facts are
    /// stored as late outcomes.
    package var fencedParts: [Int64] = []
    /// Rows of fenced parts that were stored as late outcomes.
    package var late: Int = 0
    /// Parts that ended with this batch (or had ended when it was repeated).
    package var closedParts: [Int64] = []
    /// Parts that were to end but whose counters do not add up to their size: release them.
    package var unbalancedParts: [Int64] = []
    package var retryParts: Int = 0
    /// The parts that ended, with the token under which they did.
    var closed: Set<PartToken> = []

    package init() {}
}

extension StoreReport {
    mutating func add(_ other: StoreReport) {
        inserted += other.inserted
        existed += other.existed
        fencedParts += other.fencedParts
        late += other.late
        closedParts += other.closedParts
        unbalancedParts += other.unbalancedParts
        retryParts += other.retryParts
        closed.formUnion(other.closed)
    }
}
