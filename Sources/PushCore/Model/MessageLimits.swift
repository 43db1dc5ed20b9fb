/// How large what a delivery and its messages are made of may be, as the database has it too.
public enum MessageLimits {
    /// Bytes of a message's variables, as JSON. The longest payload of any gateway has 5,120, and all that a child loads at once, of
    /// some thousand messages, must fit into the memory at which it is replaced (128 MiB).
    public static let longestVariables = 16_384
    /// Bytes of a delivery's content, as JSON: a few kilobytes for each of a few hundred locales.
    public static let longestContent = 1_048_576
}
