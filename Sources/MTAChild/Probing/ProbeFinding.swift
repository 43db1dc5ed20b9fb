/// What one step of trying a gateway showed.
public struct ProbeFinding: Sendable, Hashable {
    /// How a step went.
    public enum Verdict: String, Sendable, Hashable {
        /// As it should.
        case ok
        /// Well enough to send, but somebody should know.
        case warning
        /// Messages would not be sent.
        case failed
    }

    /// The step.
    public let step: String
    /// How it went.
    public let verdict: Verdict
    /// What was found; if it is not right, why and what to do.
    public let text: String

    init(_ step: String, _ verdict: Verdict, _ text: String) {
        self.step = step
        self.verdict = verdict
        self.text = text
    }
}
