/// The judgement of one legacy request: an answer to the whole request, or a result for each device.
struct FCMLegacyJudgement {
    /// The result for one device.
    struct Result {
        /// The message's key for the records.
        var key: MessageKey
        var tokenHash: UInt32
        /// Why it is rejected; nil if it is accepted.
        var reason: FCMLegacyReason?
        /// The token to use instead.
        var canonical: String?
        /// The value of the Retry-After header of a scripted rejection.
        var retryAfter: String?
    }

    /// The devices, in the order of the request.
    var results: [Result] = []
    /// The answer to the whole request; nil if each device has its own.
    var reason: FCMLegacyReason?
    /// The text of a 400.
    var text = ""
    var retryAfter: String?
    /// Whether the messages are recorded; those of a dry run are not.
    var isRecorded = true
    var isTopic = false
    var isForm = false

    /// Whether every message is rejected.
    var isRejected: Bool { reason != nil || !results.isEmpty && results.allSatisfy { $0.reason != nil } }

    /// The pushes for the records.
    ///
    /// - Parameters:
    ///   - answer: The code of the answer to messages that are not rejected.
    ///   - isTaken: Whether messages that are not rejected are accepted.
    ///   - isAnswered: Whether the answer is sent now.
    func pushes(_ answer: UInt8 = AnswerCatalog.accepted, isTaken: Bool, isAnswered: Bool) -> [RecordedPush] {
        guard isRecorded else { return [] }
        if results.isEmpty, let reason {
            // The messages are unknown; only the refused request is recorded.
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
