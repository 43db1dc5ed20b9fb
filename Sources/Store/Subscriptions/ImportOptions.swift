/// How a file of subscriptions is taken.
public struct ImportOptions: Sendable {
    /// The age of lines without a time of their own; nil if there is none: then they only add what is unknown.
    public var age: ImportAge?
    /// Of which kinds addresses come back that get nothing now.
    public var bringsBack: Set<ImportState> = []
    /// Only looks, and says what would be done.
    public var isDryRun = false
    /// Leaves out what cannot be imported, and reports it; else the first such line ends the import.
    public var skipsMalformed = false
    /// Where the lines come from, for people.
    public var source = ""

    /// Options: a file that says nothing of its age.
    public init() {}
}

/// How old a file is.
public enum ImportAge: Sendable, Hashable {
    /// As it was made when the import begins.
    case now
    /// Made at a time.
    case at(DatabaseTime)
}

/// Why an address gets nothing: an import brings it back only if it is asked to.
public enum ImportState: String, Sendable, Hashable, CaseIterable {
    /// The person wants nothing.
    case optedOut = "opted_out"
    /// It is on the deny list.
    case denylisted
    /// A gateway has called it dead, or has failed too often with it.
    case quarantined
    /// The app or the API has taken its device away.
    case unregistered
    /// Its device, or the gateway, has another token in its place.
    case renewed
    /// It has since belonged to another user, who is gone.
    case moved
    /// It is disabled for another reason.
    case disabled
}

/// Why a line changes nothing.
public enum ImportHold: Sendable, Hashable {
    /// It does not say how old it is, and the address is known.
    case known
    /// The database knows something that is newer.
    case older
    /// The address gets nothing, and the caller did not ask for it to come back.
    case state(ImportState)

    init?(_ text: String) {
        switch text {
        case "known": self = .known
        case "older": self = .older
        default:
            guard let state = ImportState(rawValue: text) else { return nil }
            self = .state(state)
        }
    }
}

/// What an import did, or would do.
///
/// Each line is created, updated, moved, brought back, kept, replaced or left out, so that these numbers together are the lines of the
/// file.
public struct ImportReport: Sendable {
    /// The number by which it can be undone; nil if it has changed nothing.
    public var id: Int64?
    /// Subscriptions that are new.
    public var created = 0
    /// Subscriptions that were there with the same user, and are up to date now.
    public var updated = 0
    /// Tokens that belong to another user now: a new subscription each; the one before is disabled.
    public var moved = 0
    /// How many of those still get nothing, as the address got nothing before.
    public var movedInState: [ImportState: Int] = [:]
    /// Addresses that get messages again, by why they got none.
    public var returned: [ImportState: Int] = [:]
    /// Lines that change nothing, by the reason.
    public var kept: [ImportHold: Int] = [:]
    /// The first lines whose address gets nothing and stays so.
    public var keptLines: [ImportProblem] = []
    /// Lines that were left out: the first 100 of them.
    public var problems: [ImportProblem] = []
    /// How many lines were left out.
    public var skipped = 0
    /// Lines in whose place another one of the same token counts: the first 100 of them.
    public var replacements: [ImportProblem] = []
    /// How many lines were replaced so. A line of an earlier batch is not among them: it was imported, and what it made was updated.
    public var replaced = 0
    /// The number of the last line that was dealt with; 0 before the first batch.
    public var lastLine = 0

    /// Lines that are kept word for word.
    static let keptWords = 100

    public init() {}

    /// Lines that were dealt with.
    public var lines: Int {
        created + updated + moved + sum(returned) + sum(kept) + replaced + skipped
    }

    private func sum<Key>(_ counts: [Key: Int]) -> Int { counts.values.reduce(0, +) }

    /// Takes one line of each token, the latest by its time, and notes the others. A line without a time is older than one with, and of equal
    /// times the last line counts.
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
                    "its push token appears again on line \(rows[counting].line), \(why)which counts: keep one of them"
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

    /// Adds what became of some lines.
    ///
    /// - Parameter lines: the first of them.
    mutating func add(_ kind: String, held: String, count: Int, lines: [Int64]) throws {
        guard kind != "busy" else {
            skipped += count
            let problem =
                "another session's transaction has changed its subscription and not ended: import the line again when it has"
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
                ImportProblem(line: Int(line), problem: "its address gets nothing and stays so: \(state.rawValue)")
            )
        }
    }
}

/// A line of a subscription file that cannot be imported.
public struct ImportProblem: Sendable, Hashable, CustomStringConvertible {
    /// Line number in the file, 1 for the first.
    public let line: Int
    /// What is wrong with it and what it should be; without the token.
    public let problem: String

    /// A problem of a line.
    public init(line: Int, problem: String) {
        self.line = line
        self.problem = problem
    }

    /// `line 12: …`
    public var description: String { "line \(line): \(problem)" }
}
