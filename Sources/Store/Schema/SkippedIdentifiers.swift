import PostgresClient

extension Store {
    /// Moves the ids of all kinds far above those that may have been issued after the time to which the database was
    /// restored.
    ///
    /// Journals, receipts on disk and devices still have ids from that time. If these were issued again, a journal's
    /// answers would become outcomes of other messages, and two messages would have the same id at the gateway.
    ///
    /// - Returns: The number of sequences that were moved.
    package static func skipIdentifiers(_ configuration: PostgresConfiguration) async throws -> Int {
        let connection = try await PostgresConnection.connect(configuration)
        do {
            let result = try await connection.execute(PostgresStatement(skipSQL, prepare: false))
            await connection.close()
            return result.rowCount
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Deliveries are few, and old apps read their numbers as 32-bit ones. Numbers of messages also have 32 bits, and
    /// restart each day. The remaining 64-bit ids never run out; small tables' 32-bit ids are in no journal and on no
    /// device.
    private static let skipSQL = """
        SELECT setval(c.oid::regclass, least(s.max_value, coalesce(s.last_value, s.start_value) + CASE
            WHEN s.sequencename = 'delivery_number' THEN 100000
            WHEN s.sequencename LIKE 'message\\_number\\_%' THEN 100000000
            ELSE 1000000000 END))
        FROM pg_sequences s
        JOIN pg_class c ON c.relname = s.sequencename AND c.relkind = 'S'
            AND c.relnamespace = 'pushmta_engine'::regnamespace
        WHERE s.schemaname = 'pushmta_engine'
            AND (s.data_type = 'bigint'::regtype OR s.sequencename LIKE 'message\\_number\\_%')
        """
}
