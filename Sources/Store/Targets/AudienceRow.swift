/// A saved audience: a named filter of a service, with its last count.
package struct AudienceRow: Sendable, Hashable {
    /// The name of the service.
    package let service: String
    /// Its own name, unique in the service.
    package let name: String
    package let filter: String
    /// Who made it and who changed it last: a login, an API key or a user of the console.
    package let madeBy: String
    package let createdAt: DatabaseTime
    package let changedBy: String
    package let changedAt: DatabaseTime
    /// Subscriptions that would get a message, at the last count; nil if there was none.
    package let subscriptions: Int64?
    /// Subscriptions that the filter selects and that get none.
    package let excluded: Int64?
    /// The error of an estimate; nil for a count.
    package let margin: Int64?
    /// Why the last count failed; "" if it did not.
    package let problem: String
    package let countedAt: DatabaseTime?
    /// Whether a supervisor is asked to count it.
    package let isBeingCounted: Bool

    static let columns = """
        a.service, a.name, a.filter, a.made_by, a.created_at, a.changed_by, a.changed_at, a.subscriptions, a.excluded, a.margin,
        a.problem, a.counted_at, a.is_being_counted
        """

    init(_ row: inout RowReader) throws {
        service = try row.text()
        name = try row.text()
        filter = try row.text()
        madeBy = try row.text()
        createdAt = try row.time()
        changedBy = try row.text()
        changedAt = try row.time()
        subscriptions = try row.int64OrNil()
        excluded = try row.int64OrNil()
        margin = try row.int64OrNil()
        problem = try row.text()
        countedAt = try row.timeOrNil()
        isBeingCounted = try row.bool()
    }
}

/// A subscription of an audience's sample, without its user and its push token.
package struct AudienceSample: Sendable, Hashable {
    package let subscriptionID: Int64
    package let application: String
    package let platform: String
    /// Language tag, "" if unknown.
    package let locale: String
    package let registeredAt: DatabaseTime
}
