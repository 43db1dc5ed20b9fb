/// What the gateway needs of a valid message: places in the body, nothing copied.
struct FCMMessage: Equatable {
    /// The registration token; nil for a topic or a condition.
    var token: Range<Int>?
    /// The value of `_mId` in `message.data`.
    var messageID: Range<Int>?
    /// The caller only wants to know whether the message is valid.
    var isValidateOnly = false
    /// Bytes of keys and values that count against the limit of 4,096.
    var payloadBytes = 0
    /// Topic messages may only have 2,048 bytes.
    var isTopic = false
}
