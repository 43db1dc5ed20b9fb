import ProcessProtocol
import PushCore
import Synchronization

/// The metrics of this supervisor's children: sums over all children so far, and the state of those running.
final class ChildTotals: Sendable {
    /// Counters of one kind since the start of the supervisor.
    struct Sums: Sendable {
        /// Messages by outcome and class of reason.
        var messages: [OutcomeKey: Int64] = [:]
        var counts = ChildCounts()
        var cpuSeconds = 0.0
        var gateway = SecondsHistogram()
        /// Waits of single messages.
        var waits = SecondsHistogram()

        /// Adds what a child has done between two of its status lines.
        mutating func add(_ now: ChildStatus, since before: ChildStatus?) {
            counts.add(now.report.counts, since: before?.report.counts ?? ChildCounts())
            guard let figures = now.figures else { return }
            let old = before?.figures ?? ChildFigures()
            cpuSeconds += max(0, figures.cpuSeconds - old.cpuSeconds)
            gateway.add(figures.gateway, since: old.gateway)
            waits.add(figures.waits, since: old.waits)
            for count in figures.messages.prefix(Self.maxOutcomes) {
                let known = old.messages.first {
                    $0.outcome == count.outcome && $0.reasonClass == count.reasonClass
                }
                let key = OutcomeKey(outcome: count.outcome, reasonClass: count.reasonClass)
                messages[key, default: 0] += max(0, count.count - (known?.count ?? 0))
            }
        }

        /// A limit above the number of outcomes and classes, so that input from a pipe cannot create unlimited series.
        private static let maxOutcomes = 100
    }

    struct OutcomeKey: Sendable, Hashable {
        var outcome: String
        var reasonClass: String
    }

    struct Values: Sendable {
        var sums: [ChildKind: Sums] = [:]
        /// How long all children's database operations took.
        var database = DatabaseTimes()
        /// The last status line of each running child.
        var last: [Int32: (kind: ChildKind, status: ChildStatus)] = [:]
        /// How many children ended, by reason.
        var ended: [ChildExitReason: Int64] = [:]
    }

    private let values = Mutex(Values())

    var current: Values { values.withLock { $0 } }

    /// Takes a status line of a child.
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
