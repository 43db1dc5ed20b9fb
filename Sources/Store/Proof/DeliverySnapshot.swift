import PushCore

/// A delivery's counters and its messages, counted one by one in the same snapshot.
public struct DeliverySnapshot: Sendable {
    /// The counters, sums over the parts.
    public let progress: DeliveryProgress
    /// Messages by status: rows of the broad log, `rest_status` of ended parts, and pending ones.
    public let rows: [MessageStatus: Int64]
    /// Different sequence numbers among them.
    public let distinctMessages: Int64
    /// The smallest and the greatest sequence number; 0 without messages.
    public let firstSequence: Int32
    /// The greatest sequence number; 0 without messages.
    public let lastSequence: Int32

    /// A snapshot.
    public init(
        progress: DeliveryProgress,
        rows: [MessageStatus: Int64],
        distinctMessages: Int64,
        firstSequence: Int32,
        lastSequence: Int32
    ) {
        self.progress = progress
        self.rows = rows
        self.distinctMessages = distinctMessages
        self.firstSequence = firstSequence
        self.lastSequence = lastSequence
    }

    /// All messages that were counted.
    public var messages: Int64 { rows.values.reduce(0, +) }

    /// Messages that are counted more than once: they have two outcomes, or are in two unfinished parts.
    public var duplicateRows: Int64 { messages - distinctMessages }

    /// What does not add up, each in words; empty when everything does.
    public var faults: [String] {
        let counters: [(MessageStatus, Int64)] = [
            (.pending, progress.pending), (.sent, progress.sent), (.failed, progress.failed),
            (.ignored, progress.ignored),
            (.notApplicable, progress.notApplicable), (.canceled, progress.canceled), (.unknown, progress.unknown),
        ]
        var faults = counters.compactMap { status, count in
            rows[status, default: 0] == count
                ? nil : "\(status): the counters say \(count), the rows \(rows[status, default: 0])"
        }
        let sum = counters.reduce(0) { $0 + $1.1 }
        if sum != progress.target { faults.append("target is \(progress.target), the sum of all states \(sum)") }
        if messages != progress.target { faults.append("target is \(progress.target), there are \(messages) messages") }
        if duplicateRows != 0 { faults.append("\(duplicateRows) messages are counted twice") }
        // Numbers of messages that were never committed are missing in a continuous delivery.
        let hasGaps = progress.kind == .continuous && firstSequence >= 1 && Int64(lastSequence) >= progress.target
        if messages > 0, !hasGaps, firstSequence != 1 || Int64(lastSequence) != progress.target {
            faults.append("sequence numbers go from \(firstSequence) to \(lastSequence)")
        }
        return faults
    }

    /// Whether everything adds up.
    public var isConsistent: Bool { faults.isEmpty }
}
