import LaboratoryStore
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// The database queries of benches.
@Suite struct MeasurementTests {
    /// Times in milliseconds after the first, each with the number stored by then, and the rate between 10 % and 90 %
    /// of the messages.
    @Test(
        arguments: [
            ([], nil), ([(0, 10)], nil), ([(0, 5), (1_000, 95)], nil),
            ([(0, 50), (500, 50)], 100), ([(0, 5), (100, 15), (2_100, 75), (60_000, 5)], 37.5),
            ([(0, 10), (1_000, 40), (4_000, 40), (5_000, 10)], 20),
        ] as [([(milliseconds: Int, messages: Int)], Double?)]
    )
    func theSustainedRateKnowsNeitherStartNorEnd(_ moments: [(milliseconds: Int, messages: Int)], _ rate: Double?)
        async throws
    {
        let fixture = try await StoreFixture.make()
        let delivery = try await fixture.startedDelivery()
        var stored = 0
        for moment in moments {
            try await fixture.sql(
                Self.insert(delivery, (stored + 1)...(stored + moment.messages), at: moment.milliseconds, status: 1)
            )
            stored += moment.messages
        }
        // Messages that were not sent have times, too.
        if stored > 0 { try await fixture.sql(Self.insert(delivery, 1_001...1_500, at: 700, status: 2)) }
        #expect(try await fixture.store.sustainedRate(delivery: delivery) == rate)
    }

    private static func insert(_ delivery: Int64, _ sequences: ClosedRange<Int>, at milliseconds: Int, status: Int)
        -> String
    {
        """
        INSERT INTO pushmta_engine.broad_log (delivery_id, subscription_id, part_id, sequence, log_day, status, logged_at)
        SELECT d.id, n, 1, n, d.log_day, \(status), d.created_at + \(milliseconds) * interval '1 ms'
        FROM pushmta_engine.delivery d, generate_series(\(sequences.lowerBound), \(sequences.upperBound)) n WHERE d.id = \(delivery)
        """
    }
}
