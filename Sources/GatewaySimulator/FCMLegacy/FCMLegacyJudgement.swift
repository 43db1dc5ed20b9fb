/// What becomes of one legacy request: an answer to the whole of it, or a result for each device.
struct FCMLegacyJudgement {
    /// What becomes of the message for one device.
    struct Result {
        /// The message's key for the records.
        var key: MessageKey
        var tokenHash: UInt32
        /// Why it is rejected; nil when it is accepted.
        var reason: FCMLegacyReason?
        /// The token that is wanted instead.
        var canonical: String?
        /// The value of the Retry-After header of a scripted rejection.
        var retryAfter: String?
    }

    /// The devices, in the order of the request.
    var results: [Result] = []
    /// The answer to the whole request; nil when each device has its own.
    var reason: FCMLegacyReason?
    /// The text of a 400.
    var text = ""
    var retryAfter: String?
    /// A dry run leaves no record.
    var isRecorded = true
    var isTopic = false
    var isForm = false

    /// Whether every message is rejected.
    var isRejected: Bool { reason != nil || !results.isEmpty && results.allSatisfy { $0.reason != nil } }

    /// The pushes for the records.
    ///
    /// - Parameters:
    ///   - answer: the code of the answer to what is not rejected.
    ///   - isTaken: whether what is not rejected is accepted.
    ///   - isAnswered: whether the answer leaves now.
    func pushes(_ answer: UInt8 = AnswerCatalog.accepted, isTaken: Bool, isAnswered: Bool) -> [RecordedPush] {
        guard isRecorded else { return [] }
        if results.isEmpty, let reason {
            // Nothing is known of its messages, only that a request was turned away.
            return [
                RecordedPush(key: .none, tokenHash: 0, answer: reason.code, isAccepted: false, isAnswered: isAnswered)
            ]
        }
        return results.map { result in
            let rejection = (reason ?? result.reason)?.code
            return RecordedPush(
                key: result.key,
                tokenHash: result.tokenHash,
                answer: rejection ?? answer,
                isAccepted: rejection == nil && isTaken,
                isAnswered: isAnswered
            )
        }
    }
}
