import Administration

/// A drill's result: the line that is printed.
struct DrillResult: Sendable, Equatable {
    var drill: String
    /// The seed, which repeats the run. It is at most `Int64.max`, the maximum that the command line accepts.
    var seed: UInt64
    /// Faults that landed while at least `DrillFault.minStreams` streams were open.
    var faults = 0
    /// The minimum number of open streams at one of these faults; 0 without faults.
    var inFlight: Int64 = 0
    /// Messages that are or were ambiguous according to the database.
    var ambiguous = 0
    /// Messages that are recorded as sent but that no gateway accepted, or that have no outcome.
    var lost = 0
    /// Messages that a gateway accepted more than once.
    var duplicates = 0
    /// Messages whose outcome in the database disagrees with the gateway's record in any other way. Duplicates that
    /// were not ambiguous are among them.
    var unexplained = 0
    /// Seconds from a fault until the rate had recovered, the longest one measured; `nil` if none was.
    var recoverySeconds: Double?
    /// Everything that was wrong; empty if the drill passed.
    var reasons: [String] = []

    /// Whether the drill passed.
    var passed: Bool { reasons.isEmpty }

    /// One line for programs. It has ten fixed keys, and one more if the drill did not pass.
    var json: String {
        var pairs: [(String, Cell)] = [
            ("drill", .text(drill)), ("seed", .integer(Int64(clamping: seed))), ("faults", Cell(faults)),
            ("inFlight", Cell(inFlight)),
            ("ambiguous", Cell(ambiguous)), ("lost", Cell(lost)), ("duplicates", Cell(duplicates)),
            ("unexplained", Cell(unexplained)), ("recoverySeconds", recoverySeconds.map { .number($0) } ?? .none),
            ("passed", .flag(passed)),
        ]
        if !passed { pairs.append(("reason", .text(reasons.joined(separator: "; ")))) }
        return Cell.object(pairs).json
    }

    /// The columns of the printed table.
    static let columns = [
        "drill", "seed", "faults", "in_flight", "ambiguous", "lost", "duplicates", "unexplained", "recovery_s",
        "passed",
    ]

    /// The row of the printed table.
    var cells: [Cell] {
        [
            .text(drill), .text(String(seed)), Cell(faults), Cell(inFlight), Cell(ambiguous), Cell(lost),
            Cell(duplicates),
            Cell(unexplained), recoverySeconds.map { .number($0) } ?? .none, .flag(passed),
        ]
    }
}
