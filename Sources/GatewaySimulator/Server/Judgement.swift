/// A gateway's judgement of one request.
struct Judgement {
    var key: MessageKey
    var tokenHash: UInt32
    /// The answer's code in the gateway's catalog; 0 means accepted.
    var code: UInt8
    /// The position of the sender's own id in the header bytes; nil if the gateway has made one.
    var senderID: Range<Int>?
    /// For APNs' 410: since when the token is invalid, in milliseconds since 1970.
    var sinceMilliseconds: Int64 = 0
    /// The value of a Retry-After header.
    var retryAfter: String?
    /// For FCM: the message and field of an error.
    var detail: RejectionDetail?
    /// What happens instead of an acceptance; nil for nothing.
    var scripted: ScriptedAnswer?
    /// Whether the push is recorded; a dry run is not.
    var isRecorded = true

    var isAccepted: Bool { code == AnswerCatalog.accepted }
}

/// The details of an FCM rejection. They are boxed, so that an accepted push carries only a nil reference.
final class RejectionDetail: Sendable {
    let rejection: FCMRejection

    init(_ rejection: FCMRejection) {
        self.rejection = rejection
    }
}
