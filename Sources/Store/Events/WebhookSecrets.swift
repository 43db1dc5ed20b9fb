import PostgresClient

/// Secrets that are sealed and stored in one transaction, which keeps the key that seals them.
extension Store {
    /// Seals a secret under an id.
    package typealias SecretSealing = @Sendable (_ id: Int64) throws -> SealedWebhookSecret

    /// Creates a webhook for a consumer, as ``createWebhook(consumer:url:maxEvents:secret:)``.
    package func createWebhook(consumer: String, url: String, maxEvents: Int32, sealing: SecretSealing) async throws {
        try await keepSecret("pushmta_engine.begin_webhook_secret()", [], sealing) { secret in
            Self.statement(
                changing: "pushmta_engine.create_webhook($1, $2, $3, $4, $5, $6)",
                [.text(consumer), .text(url), .int32(maxEvents)] + Self.parameters(secret)
            )
        }
    }

    /// Gives a webhook a new secret, as ``rotateWebhookSecret(consumer:secret:overlapSeconds:)``.
    package func rotateWebhookSecret(consumer: String, overlapSeconds: Int64, sealing: SecretSealing) async throws {
        try await keepSecret("pushmta_engine.begin_webhook_secret()", [], sealing) { secret in
            Self.statement(
                changing: "pushmta_engine.rotate_webhook_secret($1, $2, $3, $4, $5 * interval '1 second')",
                [.text(consumer)] + Self.parameters(secret) + [.int64(overlapSeconds)]
            )
        }
    }

    /// - Parameter begin: the function that begins the transaction, and returns the id.
    func keepSecret(
        _ begin: String,
        _ parameters: [PostgresValue],
        _ sealing: SecretSealing,
        _ statement: @Sendable (SealedWebhookSecret) -> PostgresStatement
    ) async throws {
        try await transaction { transaction in
            let id = try await transaction.execute(PostgresStatement("SELECT \(begin)", parameters)).one {
                try $0.int64()
            }
            try await transaction.execute(statement(try sealing(id)))
        }
    }
}
