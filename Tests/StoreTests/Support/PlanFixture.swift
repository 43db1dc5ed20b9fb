import PostgresClient
import PushCore
import Store

/// A database with subscribers of one application, for deliveries with a plan.
struct PlanFixture {
    let fixture: StoreFixture

    var store: Store { fixture.store }

    static func make(_ subscribers: Int64) async throws -> PlanFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: subscribers)
        return PlanFixture(fixture: fixture)
    }

    @discardableResult
    func sql(_ text: String) async throws -> Int64? { try await fixture.sql(text) }

    /// A delivery with a plan, as `pushmta.set_plan` takes it, that is not started.
    func edited(_ plan: String, applications: [String] = ["shop-ios"], explicit: Bool = false) async throws -> Int64 {
        let id = try await store.createDelivery(
            NewDelivery(
                label: "Sale",
                applications: applications,
                content: #"{"ios": {"title": "Hi"}, "android": {"title": "Hi"}}"#,
                explicitTargets: explicit
            )
        )
        try await sql("DO $$ BEGIN PERFORM pushmta.set_plan(\(id), '\(plan)'); END $$")
        return id
    }

    /// Prepares what is due, in chunks of 60 messages and parts of 20.
    func prepare() async throws {
        while let job = try await store.claimDeliveriesToPrepare(host: "a", freezeSeconds: 3_600).first {
            while true {
                let chunk = try await store.prepareChunk(job, partSize: 20, partsPerChunk: 3)
                guard chunk.done else { continue }
                if chunk.isHeld { _ = try await store.endAnalysis(of: job, AnalysisFindings()) }
                break
            }
        }
    }

    /// A delivery with a plan, started and prepared.
    func begun(_ plan: String) async throws -> Int64 {
        let id = try await edited(plan)
        try await store.startDelivery(id)
        try await prepare()
        return id
    }

    /// What a supervisor does each second, at a moment in SQL.
    func advance(at moment: String = "now()") async throws {
        // Its tests move the moments of waves, too.
        try await sql("UPDATE pushmta_engine.delivery_plan SET look_at = '-infinity' WHERE look_at IS NOT NULL")
        try await sql("SELECT pushmta_engine.advance_waves(\(moment))")
        try await sql("SELECT pushmta_engine.close_hours(1000, \(moment))")
        try await sql("SELECT pushmta_engine.release_planned(5000, 1000, \(moment))")
    }

    /// The messages of parts that meet a condition.
    func messages(_ delivery: Int64, _ condition: String) async throws -> Int64 {
        try await sql(
            """
            SELECT coalesce(sum(p.size), 0)::bigint FROM pushmta_engine.delivery_part p
            WHERE p.delivery_id = \(delivery) AND \(condition)
            """
        ) ?? -1
    }

    /// Whether a condition holds for a delivery `d`.
    func delivery(_ id: Int64, _ condition: String) async throws -> Bool {
        try await sql("SELECT count(*) FROM pushmta_engine.delivery d WHERE d.id = \(id) AND \(condition)") == 1
    }

    /// Sends the ready parts of a delivery; each message of the first `failures` of them fails.
    ///
    /// - Returns: the number of messages that were tried.
    @discardableResult
    func send(_ delivery: Int64, failures: Int = 0) async throws -> Int {
        var tried = 0
        var failures = failures
        while let part = try await fixture.claim().first {
            let loaded = try await store.loadPart(part, MessageFields(names: []))
            let count = loaded.sequences.count
            var batch = OutcomeBatch()
            batch.append(
                part,
                loaded,
                rows: 0..<count,
                failures > 0 ? .failed : .sent,
                reason: failures > 0 ? "Bad" : ""
            )
            batch.closing = [ClosingPart(part: part.id, token: part.fencingToken)]
            _ = try await store.storeOutcomes(batch)
            failures -= 1
            tried += count
        }
        return tried
    }
}
