/// How a server is stopped, with `pg_ctl`'s own words.
enum PrivateClusterStop: String, Sendable, CaseIterable {
    /// Connections are ended, what they did not commit is rolled back, the data is complete.
    case fast
    /// As after a crash: nothing is finished, and the next start recovers from the WAL.
    case immediate
}
