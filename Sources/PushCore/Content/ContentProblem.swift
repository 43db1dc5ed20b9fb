/// One thing that is wrong with a delivery's content.
public struct ContentProblem: Sendable, Hashable, CustomStringConvertible {
    /// The key at fault, for example `ios.title` or `android.variables.url`; empty for the content as a whole.
    public let key: String
    /// What is wrong with it.
    public let cause: String
    /// What to do about it.
    public let remedy: String

    /// Makes a problem.
    public init(key: String, cause: String, remedy: String) {
        self.key = key
        self.cause = cause
        self.remedy = remedy
    }

    /// Key, cause and remedy in one line.
    public var description: String {
        "\(key.isEmpty ? "content" : key): \(cause); \(remedy)"
    }
}
