/// What became of an outcome batch; when it is returned the transaction is committed.
public struct StoreReport: Sendable {
    /// Rows written by this call.
    public var inserted: Int = 0
    /// Rows that existed already (repeat after a lost COMMIT reply, or a fact that somebody else stored).
    public var existed: Int = 0
    /// Parts that this owner does not hold any more, one for each token that was lost: decide nothing about them, their facts are
    /// stored as late outcomes.
    public var fencedParts: [Int64] = []
    /// Rows of fenced parts that were stored as late outcomes.
    public var late: Int = 0
    /// Parts that ended with this batch (or had ended when it was repeated).
    public var closedParts: [Int64] = []
    /// Parts that were to end but whose counters do not add up to their size: release them.
    public var unbalancedParts: [Int64] = []
    /// Retry parts made.
    public var retryParts: Int = 0
    /// What ended, with the token under which it did.
    var closed: Set<PartToken> = []

    /// An empty report.
    public init() {}
}
