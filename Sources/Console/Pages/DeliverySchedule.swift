import HTTPTypes
import PushCore
import Store

/// The form on a delivery's page that sets or moves its start.
struct DeliverySchedule: Sendable {
    let responder: ConsoleResponder

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// The action, and what its button says, for what may be done with the delivery; nil if its start cannot be set.
    private func action(_ allowed: Set<DeliveryAction>) -> (DeliveryAction, button: Phrase)? {
        if allowed.contains(.reschedule) { return (.reschedule, .moveButton) }
        if allowed.contains(.request) { return (.request, .requestAtButton) }
        guard allowed.contains(.start) else { return nil }
        return (.start, .startAtButton)
    }

    /// What the page shows; nothing if the start cannot be set.
    ///
    /// - Parameters:
    ///   - allowed: what may be done with the delivery in its state.
    ///   - mayAwait: whether it can start as soon as it is approved instead of at its time.
    ///   - problem: why the start was refused; "" if it was not. Without a time in the address the field is not at
    ///     fault.
    func values(
        _ call: ConsoleCall,
        _ row: DeliveryProgress,
        _ allowed: Set<DeliveryAction>,
        mayAwait: Bool,
        problem: String
    ) async throws -> PageValues {
        guard let (action, button) = self.action(allowed) else {
            return problem.isEmpty ? [:] : ["startProblem": .group(["words": .text(problem)])]
        }
        let given = call.query[Composer.zoneField]
        let (zone, known, start) = try await responder.database.run { store in
            let usual = try await store.zone(ofDelivery: row.id)
            let zone = given ?? usual
            let moments = row.startAt.map { [$0] } ?? []
            let start = try await store.localTimes(of: moments, in: zone).values.first ?? ""
            return (zone, try await store.timeZones(), start)
        }
        let typed = call.query[Composer.momentField]
        var values: PageValues = [
            "schedule": .group([
                "path": .text("/deliveries/\(row.id)/\(action.rawValue)"), "button": .text(catalogue[button]),
                "at": .text(typed ?? start),
                "mayAwait": .flag(mayAwait && action == .reschedule),
                "isWrong": .flag(typed != nil && !problem.isEmpty), "problem": .text(problem),
                "zoneMenu": ZoneMenu(known: known, chosen: zone).values(Composer.zoneField),
            ])
        ]
        if typed == nil, !problem.isEmpty { values["startProblem"] = .group(["words": .text(problem)]) }
        return values
    }
}
