/// What became of a process that was asked to end.
enum ProcessStop: Sendable, Equatable {
    /// It had ended before.
    case wasGone
    /// It ended with exit status 0; or another run had started it, and nobody knows its exit status.
    case orderly
    /// It ended by itself in another way, in words.
    case failed(String)
    /// It did not end and was killed.
    case killed
}
