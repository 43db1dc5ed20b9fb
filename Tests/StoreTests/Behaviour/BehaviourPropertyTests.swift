import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Random deeds of random persons, in any order and more than once, against ``BehaviourModel``.
@Suite("Behaviour against a plain model")
struct BehaviourPropertyTests {
    private static let labels = ["Spring", "Autumn"]
    private static let categories = ["news", "marketing"]

    @Test("Whom a filter selects is what a list of all deeds says", .timeLimit(.minutes(5)))
    func agreesWithTheModel() async throws {
        let seed = TestRandom.seed(for: "behaviourAgreesWithTheModel")
        var random = TestRandom(seed: seed)
        let fixture = try await StoreFixture.make()
        let service = try await subscribe(fixture, &random)
        var model = try await deliver(fixture)
        let persons = try await persons(fixture)
        for _ in 0..<20 {
            try await note(fixture, &model, persons, &random)
            for _ in 0..<10 {
                let test = test(model, &random)
                let wanted = Set(persons.values.filter { model.holds(test, $0) })
                let found = try await found(fixture, test, service, persons)
                #expect(found == wanted, "seed \(seed): \(test)")
            }
        }
        #expect(!model.deeds.isEmpty)
    }

    /// Subscriptions far apart, some of one user.
    private func subscribe(_ fixture: StoreFixture, _ random: inout TestRandom) async throws -> Int32 {
        try await fixture.store.keepBehaviour(ofService: "shop")
        var id: Int64 = 0
        var rows: [String] = []
        for place in 0..<60 {
            id += [1, 2, 600, 5_000][random.below(4)]
            let user = random.below(3) == 0 ? "" : "user-\(random.below(25))"
            rows.append("(\(id), 'token-\(place)-0123456789', '\(user)')")
        }
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (id, application_id, push_token, user_key)
            SELECT v.id, a.id, v.token, v.user_key FROM (VALUES \(rows.joined(separator: ", "))) v(id, token, user_key)
            CROSS JOIN pushmta_engine.application a WHERE a.name = 'shop-ios' ORDER BY v.id
            """
        )
        return try await fixture.service()
    }

    private func deliver(_ fixture: StoreFixture) async throws -> BehaviourModel {
        var model = BehaviourModel()
        for label in Self.labels {
            for category in Self.categories {
                let id = try await fixture.store.createDelivery(
                    NewDelivery(label: label, applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
                )
                try await fixture.sql(
                    """
                    UPDATE pushmta_engine.delivery SET category_id = (SELECT k.id FROM pushmta_engine.category k
                        WHERE k.name = '\(category)') WHERE id = \(id)
                    """
                )
                model.deliveries[id] = BehaviourModel.Delivery(label: label, category: category)
            }
        }
        return model
    }

    /// The person of each subscription.
    private func persons(_ fixture: StoreFixture) async throws -> [Int64: Int64] {
        let rows = try await fixture.store.query(
            "SELECT s.id, coalesce(s.person_id, s.id) FROM pushmta_engine.subscription s"
        )
        var persons: [Int64: Int64] = [:]
        try rows.each { row in
            let id = try row.int64()
            persons[id] = try row.int64()
        }
        return persons
    }

    /// Notes some deeds, in one call; a few of them twice.
    private func note(
        _ fixture: StoreFixture,
        _ model: inout BehaviourModel,
        _ persons: [Int64: Int64],
        _ random: inout TestRandom
    ) async throws {
        var notes: [String] = []
        let (subscriptions, deliveries) = (persons.keys.sorted(), model.deliveries.keys.sorted())
        for _ in 0..<(1 + random.below(12)) {
            let subscription = subscriptions[random.below(subscriptions.count)]
            let delivery = deliveries[random.below(deliveries.count)]
            let kind = random.below(3)
            let age = [0, 1, 6, 7, 8, 30, 179][random.below(7)]
            let deed = BehaviourModel.Deed(
                person: persons[subscription] ?? 0,
                kind: TargetBehaviour.Kind.allCases[kind],
                delivery: delivery,
                age: age
            )
            model.deeds.insert(deed)
            let note =
                "ROW(\(kind + 1), \(delivery), (now() AT TIME ZONE 'UTC')::date - \(age), \(subscription))::pushmta_engine.behaviour_note"
            notes += random.below(4) == 0 ? [note, note] : [note]
        }
        try await fixture.sql(
            "DO $$ BEGIN PERFORM pushmta_engine.note_behaviour(ARRAY[\(notes.joined(separator: ", "))]); END $$"
        )
    }

    private func test(_ model: BehaviourModel, _ random: inout TestRandom) -> TargetBehaviour {
        let deliveries = model.deliveries.keys.sorted()
        let subject: TargetBehaviour.Subject =
            switch random.below(4) {
            case 0: .any
            case 1: .delivery(deliveries[random.below(deliveries.count)])
            case 2: .label(Self.labels[random.below(2)])
            default: .category(Self.categories[random.below(2)])
            }
        let kind = TargetBehaviour.Kind.allCases[random.below(3)]
        return TargetBehaviour(kind, subject, days: random.below(3) == 0 ? nil : [1, 7, 30, 180][random.below(4)])
    }

    /// The persons that the compiled filter selects, through its text and the database's parser.
    private func found(
        _ fixture: StoreFixture,
        _ test: TargetBehaviour,
        _ service: Int32,
        _ persons: [Int64: Int64]
    ) async throws -> Set<Int64> {
        let parsed = try await fixture.store.parseFilter("\(test)").get()
        #expect(parsed == .did(test))
        let filter = try FilterSQL(
            parsed,
            firstParameter: 1,
            mapping: nil,
            start: try await fixture.store.databaseClock(),
            behaviour: BehaviourScope(services: [service], of: "slice")
        )
        let rows = try await fixture.store.query(
            """
            WITH slice AS MATERIALIZED (SELECT * FROM pushmta_engine.subscription), \(filter.tablesSQL)chosen AS (
                SELECT s.id FROM slice s\(filter.joinsSQL) WHERE \(filter.condition)
            )
            SELECT c.id FROM chosen c
            """,
            filter.parameters
        )
        return Set(try fixture.store.all(rows) { row in try row.int64() }.compactMap { persons[$0] })
    }
}
