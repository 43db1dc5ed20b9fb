import PostgresClient

extension Store {
    /// Lets ids of all kinds go on far above those that may have been given out since a moment to which the database was set back.
    ///
    /// Journals, receipts on disk and devices still know ids of that time. If they were given out again, a journal's answers
    /// would become outcomes of other messages, and two messages would have the same id at the gateway.
    ///
    /// - Returns: The number of sequences that were moved.
    public static func skipIdentifiers(_ configuration: PostgresConfiguration) async throws -> Int {
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

    /// Deliveries are few, and old apps read their numbers as 32-bit ones. Numbers of messages are 32-bit ones, too, and begin anew each
    /// day. What is left of ids of 64 bits lasts for ever; small tables' ids of 32 bits are in no journal and at no device.
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
