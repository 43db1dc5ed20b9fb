/// The kind of failure, as stored with the message's outcome.
package struct MessageFailure: Sendable, Hashable {
    /// How serious it is for the address.
    package var type: FailureType
    package var reason: FailureReason

    package init(_ type: FailureType, _ reason: FailureReason) {
        self.type = type
        self.reason = reason
    }

    /// Both as one number, for journals and the database: type × 256 + reason.
    package var code: Int16 { type.rawValue << 8 | reason.rawValue }

    /// The failure with a code; nil if there is none.
    package init?(code: Int16) {
        guard let type = FailureType(rawValue: code >> 8), let reason = FailureReason(rawValue: code & 0xFF) else {
            return nil
        }
        self.init(type, reason)
    }
}

/// How serious a failure is for the address, with Adobe Campaign's names and numbers (broad log, `failureType`).
package enum FailureType: Int16, Sendable, Hashable, Codable, CaseIterable {
    /// It says nothing about the address.
    case ignored = 0
    /// It may be temporary. If the answer is about the address, several failures, days apart, put it into quarantine.
    case soft = 1
    /// The address is dead.
    case hard = 2

    /// Its name in tables and JSON.
    package var name: String {
        switch self {
        case .ignored: "ignored"
        case .soft: "soft"
        case .hard: "hard"
        }
    }
}

/// Why a message failed, with Adobe Campaign's names and numbers (broad log, `failureReason`); only those that a push
/// message can have.
package enum FailureReason: Int16, Sendable, Hashable, Codable, CaseIterable {
    case undefined = 0
    case userUnknown = 1
    case unreachable = 3
    case refused = 20

    /// Its name in tables and JSON, as Adobe writes it.
    package var name: String {
        switch self {
        case .undefined: "Undefined"
        case .userUnknown: "User unknown"
        case .unreachable: "Unreachable"
        case .refused: "Refused"
        }
    }
}
