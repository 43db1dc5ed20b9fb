/// Why a delivery's content cannot be sent: all its problems at once.
public struct ContentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems, at least one, in the order of the content.
    public let problems: [ContentProblem]

    /// Makes an error of its problems.
    public init(problems: [ContentProblem]) {
        self.problems = problems
    }

    /// All problems, one a line.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
