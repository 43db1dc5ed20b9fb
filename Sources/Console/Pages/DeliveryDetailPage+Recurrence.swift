import PushCore
import Store

/// What is different about a delivery that recurs: its runs go on while it is edited, approved or stopped.
extension DeliveryDetailPage {
    /// What it goes on with; nil if it does not recur, or has ended.
    func standing(_ id: Int64) async throws -> RecurrenceStanding? {
        try await responder.database.run { try await RecurrenceStanding.read($0, [id])[id] }
    }

    /// Whether the user has no draft of a delivery, but a draft can say what it says.
    func lacksDraft(_ call: ConsoleCall, _ id: Int64) async throws -> Bool {
        guard try await draftPath(call, id) == nil else { return false }
        return try await responder.database.run { try await $0.actions(onDelivery: id, by: call.actor) }
            .contains(.duplicate)
    }

    /// How its content is edited: while it is analysed like that of any other, otherwise in a draft made of it.
    func recurringEdit(_ progress: DeliveryProgress, _ offered: Set<DeliveryAction>, recurs: Bool) -> PageValues {
        let mayMakeDraft = offered.isSuperset(of: [.edit, .duplicate]) && progress.state == .editing
        return [
            "editLabel": .text(catalogue[recurs ? .editContent : .editButton]),
            "mayEditContent": .flag(recurs && mayMakeDraft),
        ]
    }

    /// What the page says that asks for confirmation; nil if it is the same as for other deliveries.
    func recurringWords(_ action: DeliveryAction, _ standing: RecurrenceStanding)
        -> (title: Phrase, text: String, button: Phrase)?
    {
        switch action {
        case .edit:
            let text = "\(catalogue[.editRecurringText]) \(standing.words(catalogue))"
            return (title: .editRecurringTitle, text: text, button: .editContent)
        case .stop: return (title: .stopTitle, text: catalogue[.stopRecurringText], button: .stopButton)
        case .start, .request, .reschedule, .pause, .resume, .recall, .duplicate: return nil
        }
    }
}
