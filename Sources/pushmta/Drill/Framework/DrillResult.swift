/// What a drill ended with: the line that it prints.
struct DrillResult: Sendable, Equatable {
    /// The drill's name.
    var drill: String
    /// The seed, with which it can be repeated; at most `Int64.max`, as no larger one is taken from the command line.
    var seed: UInt64
    /// Faults that landed while at least `DrillFault.leastStreams` streams were open.
    var faults = 0
    /// The fewest streams that were open at one of them; 0 without faults.
    var inFlight: Int64 = 0
    /// Messages that the engine holds for ambiguous, or held so once.
    var ambiguous = 0
    /// Messages that are on record as sent but never reached the gateway, or that have no outcome.
    var lost = 0
    /// Messages that the gateway accepted more than once.
    var duplicates = 0
    /// Messages whose record and fate disagree in any other way, duplicates that were not ambiguous among them.
    var unexplained = 0
    /// Seconds from the fault to the old rate, the longest that was measured; `nil` if none was.
    var recoverySeconds: Double?
    /// Everything that was wrong; empty: passed.
    var reasons: [String] = []

    /// Whether everything was as promised.
    var passed: Bool { reasons.isEmpty }

    /// One line for programs: the same ten keys always, and one more for what did not pass.
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

    /// The columns of the table for people.
    static let columns = [
        "drill", "seed", "faults", "in_flight", "ambiguous", "lost", "duplicates", "unexplained", "recovery_s",
        "passed",
    ]

    /// The row of the table for people.
    var cells: [Cell] {
        [
            .text(drill), .text(String(seed)), Cell(faults), Cell(inFlight), Cell(ambiguous), Cell(lost),
            Cell(duplicates),
            Cell(unexplained), recoverySeconds.map { .number($0) } ?? .none, .flag(passed),
        ]
    }
}
