/// A line of a subscription file that cannot be imported.
public struct ImportProblem: Sendable, Hashable, CustomStringConvertible {
    /// Line number in the file, 1 for the first.
    public let line: Int
    /// What is wrong with it and what it should be; without the token.
    public let problem: String

    /// A problem of a line.
    public init(line: Int, problem: String) {
        self.line = line
        self.problem = problem
    }

    /// `line 12: …`
    public var description: String { "line \(line): \(problem)" }
}
