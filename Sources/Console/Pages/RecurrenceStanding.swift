import PushCore
import Store

/// What a recurring delivery goes on with, in words, for those who are about to change, approve or stop it.
struct RecurrenceStanding: Sendable {
    let row: RecurrenceRow
    /// That of the delivery: never a final one, because a stopped delivery has no further runs.
    let deliveryState: DeliveryState
    /// The next moment, on the clock of its zone; nil unless it is active.
    let next: String?

    /// - Returns: those of the deliveries that recur, by their ids.
    static func read(_ store: Store, _ ids: [Int64]) async throws -> [Int64: RecurrenceStanding] {
        var standings: [Int64: RecurrenceStanding] = [:]
        for (id, row) in try await store.recurrences(ofDeliveries: ids) {
            let state = try await store.deliveryProgress(id).state
            guard !state.isFinal else { continue }
            let zone = row.rule.timeZone
            let local = try await store.localTimes(of: [row.nextRun].compactMap(\.self), in: zone)
            let next = row.nextRun.map { moment in
                local[moment].map { Figures.local($0, zone) } ?? Figures.minute(moment)
            }
            standings[id] = RecurrenceStanding(row: row, deliveryState: state, next: next)
        }
        return standings
    }

    func words(_ catalogue: Catalogue) -> String {
        switch row.state {
        case .active: catalogue.text(.standingActive, next ?? "–")
        case .paused: catalogue[.standingPaused]
        case .editing: catalogue[.standingEditing]
        case .finished: catalogue[.standingFinished]
        }
    }
}
