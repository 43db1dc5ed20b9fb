import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Identifiers after a restore")
struct SkippedIdentifierTests {
    private static let lastIDs = PostgresStatement(
        """
        SELECT (SELECT max(id) FROM pushmta_engine.delivery),
            nextval('pushmta_engine.delivery_part_id_seq'), nextval('pushmta_engine.mta_child_id_seq')
        """
    )

    /// After a restore, journals name lost children and parts by id, and devices name lost deliveries.
    @Test("No id is assigned a second time")
    func skipped() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await fixture.startedDelivery()
        let connection = try await fixture.database.connect()
        let before = try await connection.execute(Self.lastIDs)
        let moved = try await Store.skipIdentifiers(fixture.database.configuration())
        #expect(moved > 5)
        let second = try await fixture.startedDelivery()
        let after = try await connection.execute(Self.lastIDs)
        #expect(second > first + 100_000)
        for column in 1...2 {
            #expect(try after.int64(0, column) >= before.int64(0, column) + 1_000_000_000)
        }
        // It still has only decimal digits, for old apps.
        let isDecimal = String(second, radix: 16).allSatisfy(\.isNumber)
        #expect(isDecimal)
        await connection.close()
    }
}
