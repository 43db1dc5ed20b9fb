import Administration

protocol BenchReport: Sendable {
    /// The figures as text.
    var text: String { get }
    /// The figures as JSON.
    var cell: Cell { get }
    /// Whether everything that was sent arrived, as often as it should.
    var isComplete: Bool { get }
}
