import PushCore
import Store

/// The page that asks before an action on a recurrence that sends something, or that forgets the rule.
struct RecurrenceQuestion: Sendable {
    let responder: ConsoleResponder

    /// The actions for which it asks.
    static let confirmed: [RecurrenceAction] = [.run, .remove]

    private var catalogue: Catalogue { responder.pages.catalogue }

    func reply(_ id: Int64, _ action: RecurrenceAction) async throws -> ConsoleReply {
        let progress = try await responder.database.run { try await $0.deliveryProgress(id) }
        let isRun = action == .run
        let facts = isRun ? try await self.facts(progress) : []
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[isRun ? .recurrenceRunTitle : .recurrenceRemoveTitle],
                [
                    "subject": .text(DeliveryWords(row: progress, catalogue: catalogue).name),
                    "text": .text(catalogue[isRun ? .recurrenceRunText : .recurrenceRemoveText]),
                    "action": .text("/deliveries/\(id)\(RecurrencePage.path)/\(action.rawValue)"),
                    "button": .text(catalogue[isRun ? .recurrenceRun : .recurrenceRemove]),
                    "back": .text("/deliveries/\(id)"), "isMild": .flag(isRun),
                    "hasFacts": .flag(!facts.isEmpty),
                    "startFacts": .list(facts.map { ["name": .text($0.name), "value": .text($0.value)] }),
                ]
            )
        )
    }

    /// Whom a run would reach, what it waits for, and whether it needs an approval.
    private func facts(_ progress: DeliveryProgress) async throws -> [(name: String, value: String)] {
        let id = progress.id
        let number = try await DeliveryDetailPage(responder: responder).number(progress)
        let reader = DeliveryStartFacts(catalogue: catalogue)
        let (rules, approval) = try await responder.database.run { store in
            let rules = try await Figures.$zone.withValue(try await store.clock(ofDelivery: id)) {
                try await reader.read(store, id, start: progress.now).facts
            }
            return (rules, try await store.approval(ofDelivery: id))
        }
        var facts = [(name: catalogue[.columnTarget], value: number.words(catalogue))]
        if let given = approval.given {
            facts.append((catalogue[.approvalTitle], catalogue.text(.recurrenceRunApproved, given.by)))
        } else if let above = approval.above {
            facts.append((catalogue[.approvalTitle], catalogue.text(.recurrenceRunAbove, Figures.count(above))))
        }
        return facts + rules
    }
}
