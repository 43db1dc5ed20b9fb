/// What the gateway needs from a well-formed legacy request.
struct FCMLegacyMessage: Equatable {
    /// A target device.
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
    /// Whether the message is only validated.
    var isDryRun = false
    /// Whether the target is a topic or a condition of topics.
    var isTopic = false
    /// The size of the names and values of `data` and `notification`, in bytes.
    var payloadBytes = 0
    /// What is wrong with the message for every device; nil for nothing.
    var problem: FCMLegacyReason?
    /// Whether the request was a form, so that the answer is plain text.
    var isForm = false

    /// The limits for names and values together, in bytes: for messages to devices and for messages to topics.
    static let payloadLimit = 4096
    static let topicPayloadLimit = 2048
    /// The maximum `time_to_live`, in seconds: four weeks.
    static let maxTTL = 2_419_200
    /// The maximum number of tokens in one request.
    static let maxTargets = 1000

    /// Notes a problem unless there is one already.
    mutating func note(_ reason: FCMLegacyReason) {
        problem = problem ?? reason
    }

    mutating func addTarget(_ token: [UInt8]) {
        targets.append(
            Target(
                key: MessageKey(hashOf: token, token.indices),
                isToken: !token.isEmpty && token.allSatisfy(FCMMessageReader.isTokenByte)
            )
        )
    }

    /// Adds an entry of `data`.
    mutating func addData(name: [UInt8], value: [UInt8]) {
        if Self.isReserved(String(decoding: name, as: UTF8.self)) { note(.invalidDataKey) }
        if name == Array("_mId".utf8) { id = MessageKey(id: value, value.indices) }
        payloadBytes += name.count + value.count
    }

    /// Checks the message as a whole, after it was read completely.
    mutating func finish() {
        if targets.isEmpty, !isTopic { note(.missingRegistration) }
        if payloadBytes > (isTopic ? Self.topicPayloadLimit : Self.payloadLimit) { note(.messageTooBig) }
    }

    /// `from`, `message_type` and names that begin with `google` or `gcm` are reserved by Google.
    private static func isReserved(_ name: String) -> Bool {
        name == "from" || name == "message_type" || name.hasPrefix("google") || name.hasPrefix("gcm")
    }
}

/// A malformed request: the text of a 400.
struct FCMLegacyRefusal: Error, Equatable {
    var text: String
}

/// Reads the plain text form of a legacy request: `registration_id=…&data.key=value`.
enum FCMLegacyFormReader {
    /// Reads a body. A form can hardly be malformed, but its values can.
    static func read(_ body: [UInt8]) -> FCMLegacyMessage {
        var message = FCMLegacyMessage()
        message.isForm = true
        for (name, value) in FormFields.decode(body) {
            switch name {
            case "registration_id": if !value.isEmpty { message.addTarget(Array(value.utf8)) }
            case "dry_run": message.isDryRun = value == "true" || value == "1"
            case "time_to_live":
                if !(Int(value).map { (0...FCMLegacyMessage.maxTTL).contains($0) } ?? false) {
                    message.note(.invalidTTL)
                }
            case _ where name.hasPrefix("data."):
                message.addData(name: Array(name.utf8.dropFirst(5)), value: Array(value.utf8))
            default: break
            }
        }
        message.finish()
        return message
    }
}
