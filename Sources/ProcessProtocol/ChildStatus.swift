import PushCore

/// The state of a child: the content of a status line.
package struct ChildStatus: Sendable, Codable, Equatable {
    /// The supervisor's number for this start; lines of another generation are ignored.
    package var generation: Int32
    /// The child's report.
    package var report: ChildReport
    /// Why the child is about to exit; only in its last line.
    package var exitReason: ChildExitReason?
    /// The metrics of the child; nil from a child of another version with another format.
    package var figures: ChildFigures?

    package init(
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

    /// Decodes a status of this or another version.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        generation = try values.decode(Int32.self, forKey: .generation)
        report = try values.decode(ChildReport.self, forKey: .report)
        // A reason that only the other version knows becomes nil, so that the line still counts.
        exitReason = try values.decodeIfPresent(String.self, forKey: .exitReason).flatMap(
            ChildExitReason.init(rawValue:)
        )
        figures = try? values.decodeIfPresent(ChildFigures.self, forKey: .figures)
    }
}
