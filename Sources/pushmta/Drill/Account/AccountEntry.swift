import PushCore

/// A message that is named in the account.
struct AccountEntry: Sendable, Equatable {
    /// What is the matter with it.
    enum Kind: String, Sendable, CaseIterable {
        /// On record as sent, never accepted; without an outcome; or ended otherwise, which nobody wanted.
        case lost
        /// Accepted more than once.
        case duplicate
        /// Record and fate disagree.
        case unexplained
    }

    /// What is the matter.
    let kind: Kind
    /// The delivery.
    let delivery: Int64
    /// The message; `nil`: the gateway's id belongs to no message.
    let sequence: Int32?
    /// The id at the gateway.
    let id: String
    /// What was found.
    let finding: String

    /// In one line.
    var text: String {
        "\(kind.rawValue): message \(sequence.map { String($0) } ?? "-") of delivery \(delivery) (\(id)): \(finding)"
    }
}
