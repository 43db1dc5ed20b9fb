/// The version of the messages between a supervisor and its children.
///
/// Both run the same executable, except while an upgrade replaces it under a running supervisor. A new optional key
/// does not change the version, because readers ignore unknown keys; a changed meaning does.
package enum ProtocolVersion {
    /// The version that this build writes, and the newest one it reads.
    package static let current = 1
}
