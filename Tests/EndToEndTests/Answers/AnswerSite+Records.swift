import Gateways
import PostgresClient
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

extension AnswerSite {
    /// What the database records about a message.
    struct Record: Equatable, CustomStringConvertible {
        var status: MessageStatus
        var httpStatus: Int16
        var reason: String
        var failure: MessageFailure?
        var attempt: Int16

        var description: String {
            "\(status) \(httpStatus) \(reason) \(failure.map { "\($0.type) \($0.reason)" } ?? "-") attempt \(attempt)"
        }
    }

    /// The record of a subscription's message, nil if it is pending.
    func record(_ delivery: Int64, _ subscription: Int64) async throws -> Record? {
        let result = try await database.execute(
            PostgresStatement(
                """
                SELECT status, http_status, coalesce(reason, ''), failure, attempt FROM pushmta_engine.broad_log
                WHERE delivery_id = $1 AND subscription_id = $2
                """,
                [.int64(delivery), .int64(subscription)],
                prepare: false
            )
        )
        guard result.rowCount > 0 else { return nil }
        return Record(
            status: try #require(MessageStatus(rawValue: try result.int16(0, 0))),
            httpStatus: try result.int16(0, 1),
            reason: try result.text(0, 2),
            failure: try result.int16OrNil(0, 3).flatMap(MessageFailure.init(code:)),
            attempt: try result.int16(0, 4)
        )
    }

    /// The token events of a subscription from a delivery's message: kind and new token.
    func events(_ delivery: Int64, _ subscription: Int64) async throws -> [String] {
        let result = try await database.execute(
            PostgresStatement(
                """
                SELECT kind || coalesce(' ' || new_token, '') FROM pushmta_engine.token_event
                WHERE delivery_id = $1 AND subscription_id = $2 ORDER BY id
                """,
                [.int64(delivery), .int64(subscription)],
                prepare: false
            )
        )
        return try (0..<result.rowCount).map { try result.text($0, 0) }
    }

    /// The token events that a row's final answer causes.
    static func expectedEvents(_ row: AnswerRow) -> [String] {
        switch row.token {
        case .none: []
        // An error that a mix-up would also cause is no proof against a token that never worked while others work: it
        // is a soft error.
        case .invalid where row.isDoubtful: ["soft_error"]
        case .invalid, .invalidSinceTimestamp: ["invalid"]
        case .softError: ["soft_error"]
        case .replaced: ["canonical canonical"]
        }
    }

    /// The record that a row's answer leaves if it is not repeated; nil if the message stays pending.
    static func expectedRecord(_ row: AnswerRow, _ script: AnswerScript) -> Record? {
        var record = Record(
            status: .failed,
            httpStatus: script.status,
            reason: script.reason,
            failure: row.failure,
            attempt: 1
        )
        switch row.outcomeClass {
        case .stopApplication, .stopDelivery: return nil
        case .accepted: record.status = .sent
        case .permanent: break
        case .ambiguous: record.status = .unknown
        case .retry where row.application != .pause: break
        // The answer was given once; then the message was accepted.
        case .retry, .unprocessed: record = Record(status: .sent, httpStatus: 200, reason: "", failure: nil, attempt: 1)
        }
        return record
    }
}
