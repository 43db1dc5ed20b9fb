import PostgresClient
import PushCore
import Store
import TestSupport

extension StoreFixture {
    /// A connection in an open transaction, which acts as another process.
    func hold(_ script: String) async throws -> PostgresConnection {
        let connection = try await database.connect()
        // The transaction waits for its test, however slow the machine is.
        try await connection.run(script: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; \(script)")
        return connection
    }

    /// Makes waiting deliveries due for another attempt.
    func endWaits() async throws {
        try await sql("UPDATE pushmta_engine.delivery SET wait_until = now() WHERE wait_until IS NOT NULL")
    }

    /// Waits until one session waits for another's lock.
    func waitForLock() async throws {
        let watcher = try await database.connect()
        let waiting = PostgresStatement(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
            prepare: false
        )
        try await eventually("somebody waits for a lock") { try await watcher.execute(waiting).int64(0, 0) > 0 }
        await watcher.close()
    }

    /// Runs an action while another process's script is uncommitted, and commits the script once the action waits for
    /// it.
    func during(_ script: String, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let holder = try await hold(script)
        let task = Task { try await body() }
        try await waitForLock()
        try await holder.run(script: "COMMIT")
        try await task.value
        await holder.close()
    }

    /// Parts of a delivery in a state.
    func parts(_ delivery: Int64, _ state: String) async throws -> Int64 {
        try await sql(
            "SELECT count(*) FROM pushmta_engine.delivery_part WHERE delivery_id = \(delivery) AND state = '\(state)'"
        ) ?? -1
    }

    /// A prepared delivery with parts of this size.
    static func prepared(messages: Int64, partSize: Int) async throws -> (StoreFixture, Int64) {
        let fixture = try await make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: messages)
        let id = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: partSize)
        return (fixture, id)
    }

    /// A delivery that was analysed and not started; its messages are held in one part.
    static func analysed(messages: Int64) async throws -> (StoreFixture, Int64) {
        let fixture = try await make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: messages)
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        )
        try await fixture.store.analyzeDelivery(id)
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
        while try await !fixture.store.prepareChunk(job).done {}
        _ = try await fixture.store.endAnalysis(of: job, AnalysisFindings())
        return (fixture, id)
    }

    /// The changes of a claim of a delivery's first part, as a script.
    static func claimScript(_ delivery: Int64) -> String {
        """
        UPDATE pushmta_engine.delivery_part SET state = 'claimed', owner = 1, fencing_token = fencing_token + 1, claimed_at = now()
        WHERE id = (SELECT min(id) FROM pushmta_engine.delivery_part WHERE delivery_id = \(delivery) AND state IN ('ready', 'waiting'))
        """
    }
}
