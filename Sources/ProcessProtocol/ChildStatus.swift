import PushCore

/// How a child is doing: the content of a status line.
public struct ChildStatus: Sendable, Codable, Equatable {
    /// The number that the supervisor gave to this start; lines of another generation are ignored.
    public var generation: Int32
    /// What the child says of itself.
    public var report: ChildReport
    /// Why the child is about to exit; set in its last line only.
    public var exitReason: ChildExitReason?
    /// What it tells for the metrics of its host; nil from a child of another version that tells it in another form.
    public var figures: ChildFigures?

    public init(
        generation: Int32,
        report: ChildReport,
        exitReason: ChildExitReason? = nil,
        figures: ChildFigures? = nil
    ) {
        self.generation = generation
        self.report = report
        self.exitReason = exitReason
        self.figures = figures
    }

    /// Reads a status of this or another version.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        generation = try values.decode(Int32.self, forKey: .generation)
        report = try values.decode(ChildReport.self, forKey: .report)
        // A reason that only the other version knows is none, so that the line still counts.
        exitReason = try values.decodeIfPresent(String.self, forKey: .exitReason).flatMap(
            ChildExitReason.init(rawValue:)
        )
        figures = try? values.decodeIfPresent(ChildFigures.self, forKey: .figures)
    }
}
