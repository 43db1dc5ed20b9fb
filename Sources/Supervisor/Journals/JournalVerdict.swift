/// What may be done with a journal, as its header says.
enum JournalVerdict: Sendable, Equatable {
    /// It is complete but for a record that was being written when its child died.
    case ours
    /// The machine went down since: what is in it is true, but its last records may be lost.
    case ofEarlierBoot
    /// It is not ours to replay, for the reason given.
    case foreign(String)
}
