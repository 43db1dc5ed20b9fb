import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Kinds of failures")
struct FailureTests {
    private let hard = MessageFailure(.hard, .userUnknown)
    private let soft = MessageFailure(.soft, .refused)

    private func batch(_ part: ClaimedPart, _ loaded: LoadedPart) -> OutcomeBatch {
        var batch = OutcomeBatch()
        func append(_ row: Int, _ status: MessageStatus, _ reason: String, _ failure: MessageFailure?) {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: status,
                reason: reason,
                failure: failure
            )
        }
        append(0, .sent, "", nil)
        append(1, .failed, "Unregistered", hard)
        append(2, .failed, "", soft)
        append(3, .unknown, "Timeout", MessageFailure(.ignored, .unreachable))
        append(4, .failed, "old", nil)
        return batch
    }

    private func names(_ fixture: StoreFixture) async throws -> [String] {
        let connection = try await fixture.database.connect()
        let result = try await connection.execute(
            PostgresStatement(
                """
                SELECT coalesce(failure_type, '-') || ' ' || coalesce(failure_reason, '-') FROM pushmta.message_status
                ORDER BY sequence LIMIT 6
                """,
                prepare: false
            )
        )
        await connection.close()
        return try (0..<result.rowCount).map { try result.text($0, 0) }
    }

    private let expected = ["- -", "hard User unknown", "soft Refused", "ignored Unreachable", "- -", "- -"]

    @Test("They are stored with the outcome, counted, and shown by name")
    func stored() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 6)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        #expect(try await fixture.store.storeOutcomes(batch(part, loaded)).inserted == 5)
        #expect(try await names(fixture) == expected)
        let counts = try await fixture.store.outcomeCounts(delivery: part.deliveryID)
        #expect(counts.first { $0.reason == "Unregistered" }?.failure == hard)
        #expect(counts.first { $0.status == .failed && $0.reason.isEmpty }?.failure == soft)
        #expect(counts.first { $0.status == .sent }?.failure == nil)
        #expect(
            try await fixture.sql("SELECT failure FROM pushmta_engine.broad_log WHERE reason = 'Unregistered'")
                == Int64(hard.code)
        )
    }

    @Test("A repeated batch, and one from a journal, keep them too")
    func conflicts() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 6)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var first = OutcomeBatch()
        first.append(part, loaded, rows: 0..<1, .sent)
        _ = try await fixture.store.storeOutcomes(first)
        let report = try await fixture.store.storeOutcomes(batch(part, loaded))
        #expect(report.inserted == 4 && report.existed == 1)
        #expect(try await names(fixture) == expected)

        let (other, claimed) = try await StoreFixture.withClaimedPart(messages: 6)
        let facts = try await other.store.loadPart(claimed, fieldNames: [])
        // An owner's decision, such as `unknown`, is not a fact.
        #expect(try await other.store.storeFacts(batch(claimed, facts)).inserted == 5)
        #expect(try await names(other) == expected)
    }

    @Test("Every failure has a name in the database, the same as in the program")
    func allNames() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        for type in FailureType.allCases {
            for reason in FailureReason.allCases {
                let code = MessageFailure(type, reason).code
                let result = try await connection.execute(
                    PostgresStatement(
                        "SELECT pushmta_engine.failure_type($1::smallint), pushmta_engine.failure_reason($1::smallint)",
                        [.int16(code)],
                        prepare: false
                    )
                )
                #expect(try result.text(0, 0) == type.name)
                #expect(try result.text(0, 1) == reason.name)
            }
        }
    }
}
