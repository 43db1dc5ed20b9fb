import PostgresClient
import PushCore

/// What may be done to the recurrence of a delivery.
package enum RecurrenceAction: String, Sendable, CaseIterable {
    /// Runs are made from the next moment on.
    case start
    /// No further runs are made until it is started.
    case pause
    /// A run is made now.
    case run
    /// The delivery becomes an ordinary one.
    case remove
}

extension Store {
    /// Says when a delivery recurs, for a signed-in user, and logs it in the same transaction.
    ///
    /// Throws ``StoreError`` with `sqlState` `PM090` if the session has ended, `PM091` if its role may not do this,
    /// otherwise as ``setRecurrence(_:_:)`` does.
    package func setRecurrence(_ delivery: Int64, _ rule: RecurrenceRule, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_set_recurrence(\(ConsoleActor.caller), $5, \(RecurrenceRule.arguments(from: 6)))",
            actor.values + [.int64(delivery)] + rule.values
        )
    }

    /// Makes a draft of a recurring delivery that has none, for a signed-in user, and logs it in the same transaction. Its
    /// runs stay as they are until the draft is put into force.
    ///
    /// Throws ``StoreError`` of code `conflict` if somebody has its draft.
    package func addDraft(
        ofRecurring delivery: Int64,
        label: String,
        applications: [String],
        fields: [String: String],
        by actor: ConsoleActor
    ) async throws -> Int64 {
        try await query(
            "SELECT pushmta_engine.console_edit_recurring(\(ConsoleActor.caller), $5, $6, $7, $8::text::jsonb)",
            actor.values + [
                .int64(delivery), .text(label), .textArray(applications),
                .text(JSONObjectText.write(fields) ?? "{}"),
            ]
        ).one { try $0.int64() }
    }

    /// Does something to the recurrence of a delivery, for a signed-in user, and logs it in the same transaction.
    package func control(_ action: RecurrenceAction, recurrenceOf delivery: Int64, by actor: ConsoleActor) async throws
    {
        try await query(
            "SELECT pushmta_engine.console_control_recurrence(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.text(action.rawValue), .int64(delivery)]
        )
    }
}
