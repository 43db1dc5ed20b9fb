/// What an import did.
///
/// Each line is created, updated, replaced or left out, so that the four numbers together are the lines of the file.
public struct ImportReport: Sendable {
    /// Subscriptions that are new.
    public var created = 0
    /// Subscriptions that existed with the same user and were updated.
    public var updated = 0
    /// Older subscriptions of a token that went to another user, now disabled.
    public var disabled = 0
    /// Lines that were left out: the first 100 of them.
    public var problems: [ImportProblem] = []
    /// How many lines were left out.
    public var skipped = 0
    /// Lines in whose place a later one of the same token counts: the first 100 of them.
    public var replacements: [ImportProblem] = []
    /// How many lines were replaced so. A line of an earlier batch is not among them: it was imported, and what it made was updated.
    public var replaced = 0
    /// The number of the last line that was dealt with; 0 before the first batch.
    public var lastLine = 0

    /// Lines that are kept word for word.
    private static let kept = 100

    /// An empty report.
    public init() {}

    /// Takes the last line of each token, and notes the others.
    mutating func lastOfEachToken(_ rows: [ImportRow]) -> [ImportRow] {
        var last: [String: Int] = [:]
        for (index, row) in rows.enumerated() { last[row.pushToken] = index }
        guard last.count < rows.count else { return rows }
        return rows.enumerated().compactMap { index, row in
            guard let counting = last[row.pushToken], counting != index else { return row }
            replaced += 1
            if replacements.count < Self.kept {
                let problem = "its push token is on line \(rows[counting].line) again, which counts: keep one of them"
                replacements.append(ImportProblem(line: row.line, problem: problem))
            }
            return nil
        }
    }
}
