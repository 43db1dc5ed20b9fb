import PushCore

/// What legacy FCM says about each message of a request.
///
/// Counts in the answer are not looked at. Results belong to messages by their place only, so that a list of another length than
/// the request's says nothing about any of them.
struct LegacyAnswer: Sendable, Equatable {
    /// What is said about one message.
    enum Result: Sendable, Equatable {
        /// It was taken; `canonical` is the token that is wanted instead.
        case accepted(messageID: String?, canonical: String?)
        /// It was not taken.
        case refused(reason: String)
        /// Nothing that could be understood.
        case unreadable
    }

    /// The reason of outcomes whose result could not be read.
    static let unreadable = NoAnswerReason.malformed

    /// The largest answer that is read: a thousand results take a tenth of it.
    static let mostBytes = 2 << 20

    /// One for each message, in their order.
    var results: [Result]
    /// A text for people about the whole request; empty for none.
    var message = ""

    /// Reads the answer to a request with so many messages.
    init(status: Int, body: [UInt8], count: Int) {
        if (200..<300).contains(status) {
            results = Self.results(body, count: count)
        } else {
            let refusal = LegacyErrorBody(body)
            results = Array(repeating: .refused(reason: refusal.reason), count: count)
            message = refusal.message
        }
    }

    private static func results(_ body: [UInt8], count: Int) -> [Result] {
        let nothing = Array(repeating: Result.unreadable, count: count)
        guard let first = body.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{"),
            let envelope = try? JSONBody.decode(LegacyAnswerFields.Envelope.self, from: body)
        else { return nothing }
        if let results = envelope.results { return results.count == count ? results.map(result) : nothing }
        guard let error = envelope.error, !error.isEmpty else { return nothing }
        return Array(repeating: .refused(reason: ReasonText.storable(error)), count: count)
    }

    private static func result(_ fields: LegacyAnswerFields.Result) -> Result {
        switch (fields.messageID, fields.error) {
        case (let id?, nil):
            return .accepted(
                messageID: id.isEmpty ? nil : ReasonText.storable(id),
                canonical: fields.registrationID.flatMap { LegacyToken.isCanonical($0) ? $0 : nil }
            )
        case (nil, let error?) where !error.isEmpty: return .refused(reason: ReasonText.storable(error))
        // Both, or neither.
        default: return .unreadable
        }
    }
}
