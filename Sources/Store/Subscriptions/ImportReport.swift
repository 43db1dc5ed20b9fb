/// What an import did, or would do.
///
/// Each line is created, updated, moved, brought back, kept, replaced or skipped, so these counts add up to the lines
/// of the file.
package struct ImportReport: Sendable {
    /// The number by which it can be undone; nil if it changed nothing.
    package var id: Int64?
    /// New subscriptions.
    package var created = 0
    /// Existing subscriptions of the same user that are now up to date.
    package var updated = 0
    /// Tokens that now belong to another user: each gets a new subscription, and the old one is disabled.
    package var moved = 0
    /// How many of those still get no messages, because the address got none before.
    package var movedInState: [ImportState: Int] = [:]
    /// Addresses that get messages again, by the reason why they got none.
    package var returned: [ImportState: Int] = [:]
    /// Lines that change nothing, by reason.
    package var kept: [ImportHold: Int] = [:]
    /// The first lines whose address still gets no messages.
    package var keptLines: [ImportProblem] = []
    /// Skipped lines: the first 100 of them.
    package var problems: [ImportProblem] = []
    /// How many lines were skipped.
    package var skipped = 0
    /// Lines replaced by another one of the same token: the first 100 of them.
    package var replacements: [ImportProblem] = []
    /// How many lines were replaced. Lines of an earlier batch do not count: they were imported, and their
    /// subscriptions were then updated.
    package var replaced = 0
    /// The number of the last processed line; 0 before the first batch.
    package var lastLine = 0

    /// The maximum number of lines that a report lists.
    static let keptWords = 100

    package init() {}

    /// The number of processed lines.
    package var lines: Int {
        created + updated + moved + sum(returned) + sum(kept) + replaced + skipped
    }

    private func sum<Key>(_ counts: [Key: Int]) -> Int { counts.values.reduce(0, +) }

    /// Takes one line of each token, the latest by its time, and reports the others. A line without a time is older
    /// than one with a time; of equal times, the last line counts.
    mutating func latestOfEachToken(_ rows: [ImportRow]) -> [ImportRow] {
        var latest: [String: Int] = [:]
        for (index, row) in rows.enumerated() {
            guard let other = latest[row.pushToken], Self.isEarlier(row, than: rows[other]) else {
                latest[row.pushToken] = index
                continue
            }
        }
        guard latest.count < rows.count else { return rows }
        return rows.enumerated().compactMap { index, row in
            guard let counting = latest[row.pushToken], counting != index else { return row }
            replaced += 1
            if replacements.count < Self.keptWords {
                let why = Self.isEarlier(row, than: rows[counting]) ? "with a later time, " : ""
                let problem =
                    "its push token appears again on line \(rows[counting].line), \(why)which takes precedence: keep one of them"
                replacements.append(ImportProblem(line: row.line, problem: problem))
            }
            return nil
        }
    }

    private static func isEarlier(_ row: ImportRow, than other: ImportRow) -> Bool {
        guard let late = other.registeredAt else { return false }
        guard let time = row.registeredAt else { return true }
        return time < late
    }

    /// Adds the results of some lines.
    ///
    /// - Parameter lines: the first of them.
    mutating func add(_ kind: String, held: String, count: Int, lines: [Int64]) throws {
        guard kind != "busy" else {
            skipped += count
            let problem =
                "another session's open transaction has changed its subscription: import the line again when it has ended"
            problems += lines.prefix(max(0, Self.keptWords - problems.count)).map {
                ImportProblem(line: Int($0), problem: problem)
            }
            return
        }
        let hold = ImportHold(held)
        let state: ImportState? = if case .state(let state) = hold { state } else { nil }
        switch (kind, hold) {
        case ("created", _): created += count
        case ("updated", _): updated += count
        case ("moved", _):
            moved += count
            if let state { movedInState[state, default: 0] += count }
        case ("returned", .state(let state)): returned[state, default: 0] += count
        case ("kept", let hold?): kept[hold, default: 0] += count
        default: throw StoreError(.unexpectedAnswer, "A line was imported as \"\(kind)\", \"\(held)\".")
        }
        guard let state, kind != "returned" else { return }
        for line in lines.prefix(max(0, Self.keptWords - keptLines.count)) {
            keptLines.append(
                ImportProblem(line: Int(line), problem: "its address still gets no messages:  \(state.rawValue)")
            )
        }
    }
}
