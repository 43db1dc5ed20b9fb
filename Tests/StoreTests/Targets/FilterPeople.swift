import PostgresClient
import PushCore
import Store
import TestSupport

/// A subscriber of the model, with the reason that deliveries exclude them.
struct KnownSubscriber {
    let subscriber: ModelSubscriber
    let exclusion: String?
}

extension StoreFixture {
    /// A table of people that is the service's target mapping.
    func makePeople() async throws {
        try await sql("CREATE SCHEMA crm")
        try await sql(
            """
            CREATE TABLE crm.person (key text PRIMARY KEY, name text, age integer, vip boolean, born date,
                joined timestamptz, score numeric(8,2), "sel""ect" varchar(40))
            """
        )
        try await store.createMapping(name: "people", label: "People", view: "crm.person", keyColumn: "key")
        try await store.setService(name: "shop", mapping: "people")
    }

    /// Subscribers with random values, and their values in the model.
    func subscribe(people: Int, _ generator: inout FilterGenerator) async throws -> [KnownSubscriber] {
        var known: [KnownSubscriber] = []
        let connection = try await database.connect()
        for id in 1...Int64(people) {
            var row = PersonRow(id: id)
            row.fill(&generator)
            try await connection.execute(PostgresStatement(PersonRow.subscriptionSQL, row.subscriptionValues))
            if row.hasPerson {
                try await connection.execute(PostgresStatement(PersonRow.personSQL, row.personValues))
            }
            known.append(KnownSubscriber(subscriber: row.model, exclusion: row.exclusion))
        }
        await connection.close()
        return known
    }

    /// A started delivery with a filter.
    func filteredDelivery(_ filter: String, _ applications: [String] = ["shop-ios"], onePerUser: Bool = false)
        async throws -> Int64
    {
        let id = try await store.createDelivery(
            NewDelivery(
                label: "filtered",
                applications: applications,
                content: #"{"ios": {"title": "a"}, "android": {"title": "a"}}"#,
                onePerUser: onePerUser
            )
        )
        try await store.setTarget(ofDelivery: id, DeliveryTarget(filter: filter))
        try await store.startDelivery(id)
        return id
    }

    /// A started delivery with a filter that the functions of the database would refuse.
    func uncheckedDelivery(_ filter: String) async throws -> Int64 {
        let id = try await filteredDelivery("locale = 'fr'")
        let text = filter.replacing("'", with: "''")
        try await sql("UPDATE pushmta_engine.delivery SET target_filter = '\(text)' WHERE id = \(id)")
        return id
    }

    /// The subscriptions that a delivery goes to.
    func targets(_ delivery: Int64) async throws -> Set<Int64> {
        let connection = try await database.connect()
        let rows = try await connection.execute(
            PostgresStatement(
                "SELECT subscription_id FROM pushmta.message_status WHERE delivery_id = $1",
                [.int64(delivery)]
            )
        )
        await connection.close()
        return Set(try (0..<rows.rowCount).map { try rows.int64($0, 0) })
    }

    /// The value of `now` in microseconds since 1970, up to the moment between the claim and its transaction.
    func startOf(_ delivery: Int64) async throws -> Int64 {
        try required(
            try await sql(
                "SELECT (extract(epoch FROM started_at) * 1000000)::bigint FROM pushmta_engine.delivery WHERE id = \(delivery)"
            )
        )
    }
}
