/// Why a text is not JSON.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was found, without the text itself.
    public let cause: String
    /// Where it was found: line and column, both counted from 1, the column in bytes.
    public let line: Int
    /// The column in bytes, counted from 1.
    public let column: Int

    /// Cause and place.
    public var description: String { "\(cause) at line \(line), column \(column)" }
}
