/// What became of a registration.
enum RegistrationVerdict: Sendable, Hashable {
    /// It is committed.
    case stored
    /// The database refuses a value of it, whatever is done.
    case refused
    /// The database is away, or too busy.
    case unavailable
}
