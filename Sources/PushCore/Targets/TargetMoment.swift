/// A moment in a filter: a date or time, or a distance from the delivery's start.
package enum TargetMoment: Sendable, Hashable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    case absolute(microseconds: Int64)
    /// This many seconds before the delivery's start; a negative number is after it.
    case beforeStart(seconds: Int64)
}
