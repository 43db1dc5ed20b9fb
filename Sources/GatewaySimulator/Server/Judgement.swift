/// What the rules of a gateway say about one request.
struct Judgement {
    var key: MessageKey
    var tokenHash: UInt32
    /// The code of the answer in the gateway's catalog; 0 accepts.
    var code: UInt8
    /// Where the sender's own id stands in the header bytes; nil when the gateway has made one.
    var senderID: Range<Int>?
    /// For APNs' 410: since when, in milliseconds since 1970.
    var sinceMilliseconds: Int64 = 0
    /// The value of a Retry-After header.
    var retryAfter: String?
    /// For FCM: message and field of an error.
    var detail: RejectionDetail?
    /// What is done instead of accepting it; nil for nothing.
    var scripted: ScriptedAnswer?
    /// A dry run leaves no record.
    var isRecorded = true

    var isAccepted: Bool { code == AnswerCatalog.accepted }
}

/// The details of one FCM rejection, boxed so that an accepted push carries a single nil word for it.
final class RejectionDetail: Sendable {
    let rejection: FCMRejection

    init(_ rejection: FCMRejection) {
        self.rejection = rejection
    }
}
