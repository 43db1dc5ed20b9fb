import Gateways
import PushCore

/// Rows of the answer table as rows of output.
enum AnswerListing {
    /// All that is known of each, for programs.
    static func full(_ rows: [AnswerRow]) -> Table {
        var table = Table([
            "gateway", "status", "reason", "class", "fault", "failureType", "failureReason", "retry", "token",
            "connection",
            "application",
            "statuses", "otherReasons", "source", "condition", "delaySeconds", "doubtful", "explanation",
        ])
        for row in rows {
            table.add([
                .text(gateway(row)), .integer(Int64(row.status)), .text(key(row)),
                .text(name(row.outcomeClass)), .text(fault(row)),
                Cell(row.failure?.type.name), Cell(row.failure?.reason.name), .flag(row.isRetried),
                .text(row.token.rawValue),
                .text(row.connection.rawValue), .text(row.application.rawValue), .text(status(row)),
                .flag(standsForOthers(row)), .text(row.source.rawValue), .text(row.condition),
                Cell(row.delayMilliseconds.map { $0 / 1_000 }), .flag(row.isDoubtful),
                .text(row.explanation),
            ])
        }
        return table
    }

    /// What fits on a wide screen, for people.
    static func brief(_ rows: [AnswerRow]) -> Table {
        var table = Table([
            "gateway", "source", "status", "reason", "class", "fault", "failure", "retry", "token", "connection",
            "application",
        ])
        for row in rows {
            table.add([
                .text(gateway(row)), .text(row.source.rawValue), .text(status(row)), .text(reason(row)),
                .text(name(row.outcomeClass)), .text(fault(row)), .text(failure(row)), .flag(row.isRetried),
                .text(row.token.rawValue),
                .text(row.connection.rawValue), .text(row.application.rawValue),
            ])
        }
        return table
    }

    /// The class as JSON has it. A refusal that stops its delivery leaves the message as it was.
    static func name(_ outcomeClass: OutcomeClass) -> String {
        switch outcomeClass {
        case .unprocessed, .stopDelivery: "unprocessed"
        case .accepted: "accepted"
        case .permanent: "permanent"
        case .retry: "retry"
        case .stopApplication: "stopApplication"
        case .ambiguous: "ambiguous"
        }
    }

    /// Whose failure it is; "-" for a success.
    static func fault(_ row: AnswerRow) -> String { row.fault == .none ? "-" : row.fault.rawValue }

    /// The status for people: one without a reason stands for its hundreds where it is round.
    static func status(_ row: AnswerRow) -> String {
        guard row.source == .response || row.source == .tokenEndpoint else { return "-" }
        if row.gateway == .apnsBinary { return row.reason.isEmpty ? "other" : "\(row.status)" }
        if row.status == 0 { return row.reason.isEmpty ? "other" : "any" }
        let standsForMany = row.reason.isEmpty && row.status % 100 == 0 && row.status != 200
        return standsForMany ? "other \(row.status / 100)xx" : "\(row.status)"
    }

    /// The reason for people, with its condition.
    static func reason(_ row: AnswerRow) -> String {
        let reason = row.reason.isEmpty ? (row.outcomeClass == .accepted ? "" : "any other") : row.reason
        return [reason, row.condition.isEmpty ? "" : "(\(row.condition))"].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Type and reason in one.
    static func failure(_ row: AnswerRow) -> String {
        row.failure.map { "\($0.type.name), \($0.reason.name)" } ?? "-"
    }
}
