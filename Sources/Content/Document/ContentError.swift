/// The reasons that a delivery's content cannot be sent: all its problems at once.
package struct ContentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems, at least one, in the order of the content.
    package let problems: [ContentProblem]

    /// Creates an error from problems.
    package init(problems: [ContentProblem]) {
        self.problems = problems
    }

    /// All problems, one per line.
    package var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
