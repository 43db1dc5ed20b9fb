import Gateways
import PushCore

/// Names of rows in JSON, where gateway, status and reason tell all of them apart.
extension AnswerListing {
    /// The gateway's name: what comes otherwise than as an answer to a message has one of its own.
    static func gateway(_ row: AnswerRow) -> String {
        switch row.source {
        case .goAway: "\(row.gateway.rawValue)-goaway"
        case .tokenEndpoint: "fcm-oauth"
        case .response, .noAnswer, .feedback, .check: row.gateway.rawValue
        }
    }

    /// All names of gateways.
    static var gateways: [String] {
        AnswerTable.rows.map(gateway).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    /// Whether a row belongs to a gateway, or to the name that its part of the gateway has.
    static func belongs(_ row: AnswerRow, to name: String) -> Bool {
        row.gateway.rawValue == name || gateway(row) == name
    }

    /// The reason; empty for a success, and where it is every reason that has no row of its own.
    ///
    /// Several rows for every other reason of one status, and rows with a condition, have a word of ours.
    static func key(_ row: AnswerRow) -> String {
        switch (row.source, row.reason, row.condition) {
        case (.noAnswer, "", ""): "NotSent"
        case (.noAnswer, "", _): "NoAnswer"
        case (.check, "", _): "NotSendable"
        case (.response, "", let condition): condition
        case (.response, let reason, let condition) where !condition.isEmpty: "\(reason) (\(condition))"
        case (_, let reason, _): reason
        }
    }

    /// Whether a row stands for all reasons of its status that have no row of their own.
    static func standsForOthers(_ row: AnswerRow) -> Bool {
        row.reason.isEmpty && row.outcomeClass != .accepted
    }
}
