import PostgresClient
import PushCore
import Store
import TestSupport

extension StoreFixture {
    /// Subscriptions 1 to `users` of the iOS application with the user keys "user-0" and so on, and a continuous delivery in progress.
    static func continuous(
        users: Int64 = 3,
        applications: [String] = ["shop-ios"],
        _ change: (inout NewDelivery) -> Void = { _ in }
    ) async throws -> (StoreFixture, Int64) {
        let fixture = try await make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: users)
        return (fixture, try await fixture.startContinuous(applications, change))
    }

    /// A continuous delivery in progress.
    func startContinuous(
        _ applications: [String] = ["shop-ios"],
        _ change: (inout NewDelivery) -> Void = { _ in }
    ) async throws -> Int64 {
        var delivery = NewDelivery(
            label: "codes",
            applications: applications,
            content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#
        )
        delivery.isContinuous = true
        change(&delivery)
        let id = try await store.createDelivery(delivery)
        // It accepts messages at once.
        try await store.startDelivery(id)
        return id
    }

    /// The id of a subscription of the iOS application, by its place.
    func subscription(_ place: Int) async throws -> Int64 {
        try required(
            try await sql(
                "SELECT id FROM pushmta_engine.subscription WHERE application_id = 1 ORDER BY id OFFSET \(place) LIMIT 1"
            )
        )
    }

    /// Sends a message and returns it.
    @discardableResult
    func send(_ delivery: Int64, to place: Int = 0, variables: String = "{}", key: String? = nil) async throws
        -> MessageReference
    {
        let address = Addressee.subscription(try await subscription(place))
        let sent = try await store.sendMessage(
            NewMessage(deliveryID: delivery, address: address, variables: variables, idempotencyKey: key)
        )
        return try required(sent.first)
    }

    /// The SQLSTATE with which a message is refused; nil if it is not.
    func refusal(_ delivery: Int64, _ address: Addressee, variables: String = "{}", key: String? = nil) async
        -> String?
    {
        do {
            _ = try await store.sendMessage(
                NewMessage(deliveryID: delivery, address: address, variables: variables, idempotencyKey: key)
            )
            return nil
        } catch {
            return (error as? StoreError)?.sqlState ?? "\(error)"
        }
    }

    /// Gives all single messages the same expiry: a claim combines only messages that expire within the same second,
    /// and a test's messages may fall into two.
    func expireTogether() async throws {
        try await sql(
            "UPDATE pushmta_engine.delivery_part SET valid_until = '2100-01-01' WHERE valid_until IS NOT NULL"
        )
    }

    /// Claims single messages of the iOS application, combined.
    func claimMessages(limit: Int = 1_000, largest: Int32 = 100, messages: Int = 100_000) async throws -> [ClaimedPart]
    {
        let row = try await store.application(named: "shop-ios")
        return try await store.claimMessages(
            application: row.id,
            account: try required(row.accountID),
            child: try await child(),
            limit: limit,
            largest: largest,
            messages: messages
        )
    }

    /// Sets the day of new messages to this many days after today.
    func moveDay(_ days: Int) async throws {
        try await sql(
            """
            CREATE OR REPLACE FUNCTION pushmta_engine.message_day() RETURNS date LANGUAGE sql VOLATILE AS
                $$ SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date + \(days) $$
            """
        )
    }

    /// Claims up to this many parts and stores their messages as sent.
    func sendOut(_ limit: Int = 100) async throws -> [ClaimedPart] {
        let parts = try await claim(limit: limit)
        for part in parts {
            let loaded = try await store.loadPart(part, fieldNames: [])
            var batch = OutcomeBatch()
            batch.append(part, loaded, rows: 0..<loaded.count, .sent)
            batch.closing = [ClosingPart(part: part.id, token: part.fencingToken)]
            _ = try await store.storeOutcomes(batch)
        }
        return parts
    }
}

extension Sequence {
    /// One after the other.
    func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
        var result: [T] = []
        for element in self { result.append(try await body(element)) }
        return result
    }
}
