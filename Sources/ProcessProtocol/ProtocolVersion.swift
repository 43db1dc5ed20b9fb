/// The version of the messages between a supervisor and its children.
///
/// Both are the same executable, except while an upgrade replaces it under a running supervisor. A new optional key does
/// not change the version, as readers ignore keys they do not know; a changed meaning does.
public enum ProtocolVersion {
    /// The version that this build writes, and the newest that it reads.
    public static let current = 1
}
