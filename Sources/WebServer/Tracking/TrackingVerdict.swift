/// What became of a hit.
enum TrackingVerdict: Sendable, Hashable {
    /// It is in the database.
    case stored
    /// It is on disk, and goes to the database as soon as that is back.
    case spooled
    /// No key makes the id, or no message has the number.
    case unknown
    /// The id is of another delivery than the request says.
    case foreign
    /// Neither database nor spool takes it.
    case unavailable
}
