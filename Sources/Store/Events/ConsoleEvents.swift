import PostgresClient

/// What signed-in users of the console do; it is logged in the same transaction.
///
/// Throws ``StoreError`` with `sqlState` `PM090` if the session has ended, `PM091` if its role may not do this, otherwise
/// as the functions without a user.
extension Store {
    package func createConsumer(_ consumer: NewConsumer, by actor: ConsoleActor) async throws {
        try await query(
            """
            SELECT pushmta_engine.console_create_consumer(\(ConsoleActor.caller), $5, $6::text[], $7::text, $8 * interval '1 second', $9,
                $10::text)
            """,
            actor.values + [
                .text(consumer.name), consumer.kinds.map { PostgresValue.textArray($0) } ?? .null,
                .textOrNull(consumer.service), .int64(consumer.maxAgeSeconds), .int64(consumer.maxBytes),
                .textOrNull(consumer.reader),
            ]
        )
    }

    package func createWebhook(
        consumer: String,
        url: String,
        maxEvents: Int32,
        by actor: ConsoleActor,
        sealing: SecretSealing
    ) async throws {
        try await keepSecret(Self.consoleSecret, actor.values, sealing) { secret in
            PostgresStatement(
                "SELECT pushmta_engine.console_create_webhook(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10)",
                actor.values + [.text(consumer), .text(url), .int32(maxEvents)] + Self.parameters(secret)
            )
        }
    }

    package func setWebhook(
        consumer: String,
        url: String,
        maxEvents: Int32?,
        by actor: ConsoleActor
    ) async throws {
        try await query(
            "SELECT pushmta_engine.console_set_webhook(\(ConsoleActor.caller), $5, $6, $7)",
            actor.values + [.text(consumer), .text(url), maxEvents.map { PostgresValue.int32($0) } ?? .null]
        )
    }

    package func rotateWebhookSecret(
        consumer: String,
        overlapSeconds: Int64,
        by actor: ConsoleActor,
        sealing: SecretSealing
    ) async throws {
        try await keepSecret(Self.consoleSecret, actor.values, sealing) { secret in
            PostgresStatement(
                """
                SELECT pushmta_engine.console_rotate_secret(\(ConsoleActor.caller), $5, $6, $7, $8, $9 * interval '1 second')
                """,
                actor.values + [.text(consumer)] + Self.parameters(secret) + [.int64(overlapSeconds)]
            )
        }
    }

    private static let consoleSecret = "pushmta_engine.console_begin_secret(\(ConsoleActor.caller))"

    package func dropConsumer(_ name: String, by actor: ConsoleActor) async throws {
        try await control("consumer.remove", name, actor)
    }

    package func dropWebhook(consumer: String, by actor: ConsoleActor) async throws {
        try await control("webhook.remove", consumer, actor)
    }

    package func enableWebhook(consumer: String, _ isEnabled: Bool, by actor: ConsoleActor) async throws {
        try await control(isEnabled ? "webhook.enable" : "webhook.disable", consumer, actor)
    }

    private func control(_ action: String, _ consumer: String, _ actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_control_events(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.text(action), .text(consumer)]
        )
    }

    package func resendDeadLetter(_ id: String, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_resend_letter(\(ConsoleActor.caller), $5::text::uuid)",
            actor.values + [.text(id)]
        )
    }
}
