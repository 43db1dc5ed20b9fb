/// A row of `delivery_part` in the model.
struct ModelPart: Sendable, Hashable {
    enum State: Sendable, Hashable {
        case ready
        case claimed
        case done
    }

    /// The frozen target.
    let messages: MessageSet
    let attempt: Int
    var state = State.ready
    var token = 0
    var owner = -1
    var renewal = 0
    /// The dispatch mark: the messages that may have been sent.
    var marked = MessageSet.empty
    /// What those who released the part noted for its next owners: may have been sent, and was refused for now.
    var ambiguous = MessageSet.empty
    var soft = MessageSet.empty
    /// What a sweep saw; -1 when it has not looked.
    var observedToken = -1
    var observedRenewal = -1

    init(messages: MessageSet, attempt: Int, ambiguous: MessageSet = .empty) {
        self.messages = messages
        self.attempt = attempt
        self.ambiguous = ambiguous
    }
}
