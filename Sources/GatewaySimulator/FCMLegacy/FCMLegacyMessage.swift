/// What the gateway needs of a legacy request whose form is right.
struct FCMLegacyMessage: Equatable {
    /// One device that it goes to.
    struct Target: Equatable {
        /// The key of the token.
        var key: MessageKey
        /// Whether it looks like a registration token.
        var isToken: Bool
    }

    /// The devices, in the order of the request; empty for a topic or a condition.
    var targets: [Target] = []
    /// The message's own id in `data`, as its key.
    var id: MessageKey?
    /// The caller only wants to know whether the message is valid.
    var isDryRun = false
    /// It goes to a topic or to a condition of topics.
    var isTopic = false
    /// Bytes of names and values of `data` and `notification`.
    var payloadBytes = 0
    /// What is wrong with the message for every device; nil when nothing is.
    var problem: FCMLegacyReason?
    /// The request was a form, so the answer is plain text.
    var isForm = false

    /// The limit for names and values together, in bytes, and that of messages to topics.
    static let payloadLimit = 4096
    static let topicPayloadLimit = 2048
    /// The longest `time_to_live`, in seconds: four weeks.
    static let longestTTL = 2_419_200
    /// The most tokens of one request.
    static let mostTargets = 1000

    /// Notes a problem unless there is one already.
    mutating func note(_ reason: FCMLegacyReason) {
        problem = problem ?? reason
    }

    /// Adds a device.
    mutating func addTarget(_ token: [UInt8]) {
        targets.append(
            Target(
                key: MessageKey(hashOf: token, token.indices),
                isToken: !token.isEmpty && token.allSatisfy(Self.isTokenByte)
            )
        )
    }

    /// Adds an entry of `data`.
    mutating func addData(name: [UInt8], value: [UInt8]) {
        if Self.isReserved(String(decoding: name, as: UTF8.self)) { note(.invalidDataKey) }
        if name == Array("_mId".utf8) { id = MessageKey(id: value, value.indices) }
        payloadBytes += name.count + value.count
    }

    /// Looks at the message as a whole, when all of it is known.
    mutating func finish() {
        if targets.isEmpty, !isTopic { note(.missingRegistration) }
        if payloadBytes > (isTopic ? Self.topicPayloadLimit : Self.payloadLimit) { note(.messageTooBig) }
    }

    /// Registration tokens are made of these characters; their length is not fixed.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"),
            UInt8(ascii: "."), UInt8(ascii: "%"):
            true
        default: false
        }
    }

    /// `from`, `message_type` and what begins with `google` or `gcm` belong to Google.
    private static func isReserved(_ name: String) -> Bool {
        name == "from" || name == "message_type" || name.hasPrefix("google") || name.hasPrefix("gcm")
    }
}

/// A request whose form is wrong: the text of a 400.
struct FCMLegacyRefusal: Error, Equatable {
    var text: String
}
