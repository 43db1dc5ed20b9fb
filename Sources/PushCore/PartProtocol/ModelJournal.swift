/// A child's journal in the model: what is in the file for the part that it holds.
struct ModelJournal: Sendable, Hashable {
    var part = -1
    var token = 0
    var intended = MessageSet.empty
    var accepted = MessageSet.empty
    var failed = MessageSet.empty
    var soft = MessageSet.empty
    /// Sent without an answer once, whatever came of them later: they may have arrived.
    var doubted = MessageSet.empty

    /// Intents without an answer.
    var unanswered: MessageSet { intended - accepted - failed - soft }

    /// What may have arrived and has no final answer.
    var ambiguous: MessageSet { (unanswered | doubted) - accepted - failed }

    mutating func cut(_ messages: MessageSet) {
        intended -= messages
        accepted -= messages
        failed -= messages
        doubted -= messages
    }
}
