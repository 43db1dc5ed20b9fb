import PostgresClient

/// A batch of events to post.
package struct WebhookBatch: Sendable, Hashable {
    package let id: String
    /// How often it was posted before.
    package let attempts: Int32
    /// The time until its next attempt, in seconds; 0 if it is due.
    package let waitSeconds: Double
    package let url: String
    /// The number of events; 0 if all were about forgotten users, or if it is not due.
    package let events: Int32
    /// A JSON array of CloudEvents; empty if it is not due.
    package let body: String
}

/// A batch of events that a receiver did not accept.
package struct DeadLetterRow: Sendable, Hashable {
    package let id: String
    package let consumer: String
    package let events: Int64
    package let deadAt: DatabaseTime
    package let httpStatus: Int16
    package let trouble: String
}

/// Webhooks: consumers whose events the feedback worker posts.
extension Store {
    /// Creates a webhook that posts the events of a consumer.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it has a webhook, or `invalid`.
    package func createWebhook(
        consumer: String,
        url: String,
        maxEvents: Int32,
        secret: SealedWebhookSecret
    ) async throws {
        try await change(
            "pushmta_engine.create_webhook($1, $2, $3, $4, $5, $6)",
            [.text(consumer), .text(url), .int32(maxEvents)] + Self.parameters(secret)
        )
    }

    /// Changes the address of a webhook, where what waits is posted at once.
    ///
    /// Throws ``StoreError`` of code `notFound` or `invalid`.
    ///
    /// - Parameter maxEvents: the events of a request at most; nil: as before.
    package func setWebhook(consumer: String, url: String, maxEvents: Int32?) async throws {
        try await change(
            "pushmta.set_webhook($1, $2, $3)",
            [.text(consumer), .text(url), maxEvents.map { PostgresValue.int32($0) } ?? .null]
        )
    }

    /// Gives a webhook a new secret. Earlier ones sign, too, until they end.
    package func rotateWebhookSecret(
        consumer: String,
        secret: SealedWebhookSecret,
        overlapSeconds: Int64
    ) async throws {
        try await change(
            "pushmta_engine.rotate_webhook_secret($1, $2, $3, $4, $5 * interval '1 second')",
            [.text(consumer)] + Self.parameters(secret) + [.int64(overlapSeconds)]
        )
    }

    static func parameters(_ secret: SealedWebhookSecret) -> [PostgresValue] {
        [.int64(secret.id), .text(secret.sealKeyID), .bytes(secret.sealed)]
    }

    /// Removes the webhook of a consumer, which gets back what the receiver has not accepted.
    package func dropWebhook(consumer: String) async throws {
        try await change("pushmta.drop_webhook($1)", [.text(consumer)])
    }

    /// Enables a webhook, so that what waits is tried at once, or disables it.
    package func enableWebhook(consumer: String, _ isEnabled: Bool) async throws {
        try await change("pushmta.enable_webhook($1, $2)", [.text(consumer), .bool(isEnabled)])
    }

    /// Posts a dead letter again. Throws ``StoreError`` of code `notFound` if there is none of that id.
    package func resendDeadLetter(_ id: String) async throws {
        try await change("pushmta.resend_dead_letter($1::text::uuid)", [.text(id)])
    }

    /// All webhooks, by the names of their consumers.
    ///
    /// - Parameter withAddresses: whether to read their addresses, which not every role may; otherwise they are "".
    package func webhooks(withAddresses: Bool = true) async throws -> [WebhookRow] {
        let result = try await query(
            """
            SELECT w.consumer, \(withAddresses ? "w.url" : "''::text"), w.host, w.active, w.inactive_reason, w.accepted, w.accepted_at, w.attempts, w.trouble, w.dead_letters
            FROM pushmta.webhook w ORDER BY w.consumer
            """
        )
        return try all(result) { row in
            WebhookRow(
                consumer: try row.text(),
                url: try row.text(),
                host: try row.text(),
                isActive: try row.bool(),
                inactiveReason: try row.text(),
                accepted: try row.int64(),
                acceptedAt: try row.timeOrNil(),
                attempts: try row.int32OrNil(),
                trouble: try row.textOrNil(),
                deadLetters: try row.int64()
            )
        }
    }

    /// The dead letters, the latest first.
    package func deadLetters(limit: Int) async throws -> [DeadLetterRow] {
        let result = try await query(
            """
            SELECT d.id::text, d.consumer, d.events, d.dead_at, d.http_status, d.trouble FROM pushmta.dead_letter d
            ORDER BY d.dead_at DESC, d.id LIMIT $1
            """,
            [.int32(Int32(clamping: limit))]
        )
        return try all(result) { row in
            DeadLetterRow(
                id: try row.text(),
                consumer: try row.text(),
                events: try row.int64(),
                deadAt: try row.time(),
                httpStatus: try row.int16(),
                trouble: try row.text()
            )
        }
    }
}

/// What the feedback worker does for webhooks.
extension Store {
    /// The consumers with an active webhook, by their database ids.
    package func activeWebhooks() async throws -> [Int32] {
        try all(
            try await query("SELECT w.consumer_id FROM pushmta_engine.webhook w WHERE w.active ORDER BY w.consumer_id")
        ) { try $0.int32() }
    }

    /// The batch that a webhook posts next, as the active worker; nil if there are no events, the webhook is not
    /// active, or another worker is.
    package func nextWebhookBatch(worker: String, consumer: Int32) async throws -> WebhookBatch? {
        try await query(
            """
            SELECT b.id::text, b.attempts, b.wait, b.url, coalesce(b.events, 0), coalesce(b.body, '')
            FROM (SELECT CASE WHEN pushmta_engine.feedback_fence($1::uuid) THEN $2::integer END AS consumer OFFSET 0) f
            CROSS JOIN LATERAL pushmta_engine.next_webhook_batch(f.consumer) b
            WHERE b.id IS NOT NULL
            """,
            [.text(worker), .int32(consumer)]
        ).oneOrNil { row in
            WebhookBatch(
                id: try row.text(),
                attempts: try row.int32(),
                waitSeconds: try row.double(),
                url: try row.text(),
                events: try row.int32(),
                body: try row.text()
            )
        }
    }

    /// The secrets that sign what a webhook posts now, the present one first.
    package func webhookSecrets(consumer: Int32) async throws -> [SealedWebhookSecret] {
        let result = try await query(
            """
            SELECT s.id, s.seal_key_id, s.sealed FROM pushmta_engine.webhook_secret s
            WHERE s.consumer_id = $1 AND (s.ends_at IS NULL OR s.ends_at > now()) ORDER BY s.ends_at IS NULL DESC, s.id DESC
            """,
            [.int32(consumer)]
        )
        return try all(result) { row in
            SealedWebhookSecret(id: try row.int64(), sealKeyID: try row.text(), sealed: try row.bytes())
        }
    }

    /// Records what became of a posted batch; safe to repeat.
    ///
    /// - Parameters:
    ///   - decision: `accepted`, `again`, `dead` or `gone`.
    ///   - status: the HTTP status, 0 if there was no answer.
    ///   - words: what was wrong.
    ///   - pauseSeconds: the time until the next attempt.
    package func endWebhookBatch(
        _ id: String,
        decision: String,
        status: Int32,
        words: String,
        pauseSeconds: Double
    ) async throws {
        try await query(
            "SELECT pushmta_engine.end_webhook_batch($1::text::uuid, $2, $3, $4, $5)",
            [.text(id), .text(decision), .int32(status), .text(words), .double(pauseSeconds)]
        )
    }
}
