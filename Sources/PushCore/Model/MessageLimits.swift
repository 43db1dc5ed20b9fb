/// The maximum sizes of contents and variables. The database enforces them too.
package enum MessageLimits {
    /// The maximum size of a message's variables as JSON, in bytes.
    ///
    /// The longest payload of any gateway is 5,120 bytes. A child loads a few thousand messages at once, which must
    /// stay below the memory at which it is replaced (``ChildSettings/maxWorkingSetMb``).
    package static let maxVariablesBytes = 16_384
    /// The maximum size of a delivery's content as JSON, in bytes: a few kilobytes for each of a few hundred locales.
    package static let maxContentBytes = 1_048_576
}
