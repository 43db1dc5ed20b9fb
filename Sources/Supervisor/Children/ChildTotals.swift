import ProcessProtocol
import PushCore
import Synchronization

/// What the children of this supervisor have told for metrics: sums over all that there were, and how those do that run.
final class ChildTotals: Sendable {
    /// Counters of one kind, from the start of the supervisor on.
    struct Sums: Sendable {
        /// By outcome and class of reason.
        var messages: [OutcomeKey: Int64] = [:]
        var counts = ChildCounts()
        var cpuSeconds = 0.0
        var gateway = SecondsHistogram()
        /// Waits of single messages.
        var waits = SecondsHistogram()

        /// Adds what a child has done between two of its lines.
        mutating func add(_ now: ChildStatus, since before: ChildStatus?) {
            counts.add(now.report.counts, since: before?.report.counts ?? ChildCounts())
            guard let figures = now.figures else { return }
            let old = before?.figures ?? ChildFigures()
            cpuSeconds += max(0, figures.cpuSeconds - old.cpuSeconds)
            gateway.add(figures.gateway, since: old.gateway)
            waits.add(figures.waits, since: old.waits)
            for count in figures.messages.prefix(Self.mostOutcomes) {
                let known = old.messages.first {
                    $0.outcome == count.outcome && $0.reasonClass == count.reasonClass
                }
                let key = OutcomeKey(outcome: count.outcome, reasonClass: count.reasonClass)
                messages[key, default: 0] += max(0, count.count - (known?.count ?? 0))
            }
        }

        /// More than there are outcomes and classes: what a pipe says makes no series without end.
        private static let mostOutcomes = 100
    }

    struct OutcomeKey: Sendable, Hashable {
        var outcome: String
        var reasonClass: String
    }

    struct Values: Sendable {
        var sums: [ChildKind: Sums] = [:]
        /// Times of work with the database, of all children.
        var database = DatabaseTimes()
        /// The last line of each child that runs.
        var last: [Int32: (kind: ChildKind, status: ChildStatus)] = [:]
        /// How many ended, by reason.
        var ended: [ChildExitReason: Int64] = [:]
    }

    private let values = Mutex(Values())

    var current: Values { values.withLock { $0 } }

    /// A child wrote a line.
    func heard(_ generation: Int32, _ kind: ChildKind, _ status: ChildStatus) {
        guard status.generation == generation else { return }
        values.withLock { values in
            let before = values.last[generation]?.status
            values.sums[kind, default: Sums()].add(status, since: before)
            if let figures = status.figures {
                values.database.add(figures.database, since: before?.figures?.database ?? DatabaseTimes())
            }
            values.last[generation] = (kind, status)
        }
    }

    func ended(_ generation: Int32, _ reason: ChildExitReason) {
        values.withLock { values in
            values.last[generation] = nil
            values.ended[reason, default: 0] += 1
        }
    }
}
