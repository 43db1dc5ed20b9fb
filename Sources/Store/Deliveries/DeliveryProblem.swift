/// A reason why a delivery cannot be sent.
package struct DeliveryProblem: Sendable, Hashable, Encodable {
    /// `content`, `filter`, `application`, `target` or `start`.
    package let subject: String
    /// The place in the content, a JSON Pointer; "" for the whole.
    package let pointer: String
    package let problem: String
    /// What to do about it.
    package let remedy: String

    package init(subject: String, pointer: String, problem: String, remedy: String) {
        self.subject = subject
        self.pointer = pointer
        self.problem = problem
        self.remedy = remedy
    }

    /// Problems as a text, one per line.
    package static func text(_ problems: [DeliveryProblem]) -> String {
        problems.map { "\($0.problem); \($0.remedy)" }.joined(separator: "\n")
    }
}
