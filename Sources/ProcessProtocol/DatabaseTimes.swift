/// Durations of a child's database operations, by kind.
package struct DatabaseTimes: Sendable, Codable, Equatable {
    /// Claims of parts.
    package var claim = SecondsHistogram()
    /// Reading tokens and fields of parts.
    package var load = SecondsHistogram()
    /// Commits of dispatch marks, before messages leave.
    package var mark = SecondsHistogram()
    /// Storing of outcomes, with the commit.
    package var store = SecondsHistogram()

    package init() {}

    package var all: [(name: String, times: SecondsHistogram)] {
        [("claim", claim), ("load", load), ("mark", mark), ("store", store)]
    }

    /// Adds the increase from `before` to `now`.
    package mutating func add(_ now: DatabaseTimes, since before: DatabaseTimes) {
        claim.add(now.claim, since: before.claim)
        load.add(now.load, since: before.load)
        mark.add(now.mark, since: before.mark)
        store.add(now.store, since: before.store)
    }
}
