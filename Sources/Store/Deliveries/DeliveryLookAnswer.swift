import PushCore

/// The answer to a look; its members are the columns of `pushmta.preview_message` and `pushmta.count_target`.
package enum DeliveryLookAnswer: Sendable, Hashable {
    /// A message.
    package struct Message: Sendable, Hashable, Encodable {
        package var application = ""
        package var locale = ""
        package var headers: [String: String] = [:]
        package var payload = ""
        package var bytes = 0
        package var limit = 0
        package var problem = ""
        package var notice = ""

        package init() {}
    }

    case message(Message)
    case counts([TargetCount])
    /// Why there is no other answer.
    case problem(String)

    /// Whether a longer count would say more.
    package var isRough: Bool {
        guard case .counts(let counts) = self else { return false }
        return counts.contains { !$0.isPrecise }
    }

    var json: String {
        get throws {
            switch self {
            case .message(let message): try JSONBody.text(message)
            case .counts(let counts): try JSONBody.text(["counts": counts])
            case .problem(let text): try JSONBody.text(["problem": text])
            }
        }
    }
}
