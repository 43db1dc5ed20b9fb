import PushCore
import Store

/// How many messages a delivery has: one number, which all parts of its page show.
enum TargetNumber: Sendable, Hashable {
    /// Its messages are made, all of them.
    case exact(Int64)
    /// Its messages are being made.
    case growing
    /// What its last analysis counted, which no longer holds.
    case last(Int64)
    /// What its filter selects now, and whether preparation may leave out some of these people.
    case estimate(AudienceCount, isAtMost: Bool)
    /// Only preparation finds out.
    case unknown

    /// The number of a delivery whose messages are made, or being made; nil if they are not.
    init?(_ progress: DeliveryProgress) {
        switch progress.state {
        case .editing: return nil
        case .analysing: self = .growing
        case .pending:
            guard progress.prepared, progress.target > 0 else { return nil }
            self = .exact(progress.target)
        case .preparing: self = progress.prepared ? .exact(progress.target) : .growing
        case .paused:
            // It may have been paused before its preparation, or during it.
            guard progress.prepared || progress.target > 0 else { return nil }
            self = progress.prepared ? .exact(progress.target) : .growing
        case .ready, .inProgress, .finished, .stopped, .recalled: self = .exact(progress.target)
        }
    }

    func words(_ catalogue: Catalogue) -> String {
        switch self {
        case .exact(let count): return Figures.count(count)
        case .growing: return catalogue[.targetGrowing]
        case .last(let count): return catalogue.text(.targetLast, Figures.count(count))
        case .estimate(let count, let isAtMost):
            // As the composer shows it.
            let text = Figures.count(count.count)
            let shown = count.error.map { catalogue.text(.aboutWithin, text, Figures.count($0)) } ?? text
            return isAtMost ? catalogue.text(.atMost, shown) : shown
        case .unknown: return catalogue[.targetUnknown]
        }
    }
}
