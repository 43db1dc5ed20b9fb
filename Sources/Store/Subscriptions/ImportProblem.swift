/// A line of a subscription file that cannot be imported.
package struct ImportProblem: Sendable, Hashable, CustomStringConvertible {
    /// Line number in the file, 1 for the first.
    package let line: Int
    /// What is wrong with it and what it should be, without the token.
    package let problem: String

    /// A problem of a line.
    package init(line: Int, problem: String) {
        self.line = line
        self.problem = problem
    }

    /// `line 12: …`
    package var description: String { "line \(line): \(problem)" }
}
