/// Limits that make a trace cost almost nothing and end on its own.
package enum TraceLimits {
    /// More than anyone can read, and some 1.5 % of a core: copying, masking and writing an exchange takes about 150
    /// µs, almost all of it off the event loop.
    package static let maxPerSecond = 100
    /// Half a percent of a core: hashing a token takes some 250 ns.
    package static let maxHashesPerSecond = 20_000
    /// As many as a person can follow.
    package static let usualPerSecond = 10
    /// A forgotten trace costs nothing after this time.
    package static let maxSeconds = 3_600
    /// The maximum number of parallel traces of one supervisor.
    package static let maxTraces = 4
    /// A child ends a trace that was not renewed for this many seconds: its client may be gone without notice.
    package static let orderSeconds = 10
    /// Seconds between two renewals by a supervisor: two renewals may be lost.
    package static let renewalSeconds = 3
    /// A longer line, in bytes, is not shown: the other side would not accept it.
    package static let maxLineLength = 60_000
}
