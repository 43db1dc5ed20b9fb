/// Reads and checks the body of `messages:send`. Names are taken in snake case and camel case, as protobuf's JSON form does.
struct FCMMessageReader {
    /// The limit for keys and values together, in bytes.
    static let payloadLimit = 4096
    /// The same for messages to a topic.
    static let topicPayloadLimit = 2048

    var scanner: JSONScanner
    var message = FCMMessage()
    private var hasTarget = false

    /// Checks a body and says where its parts are.
    static func read(_ body: [UInt8]) throws(FCMRejection) -> FCMMessage {
        var reader = FCMMessageReader(scanner: JSONScanner(body))
        return try reader.read()
    }

    private init(scanner: JSONScanner) {
        self.scanner = scanner
    }

    private mutating func read() throws(FCMRejection) -> FCMMessage {
        var hasMessage = false
        try object(at: "") { (reader, name) throws(FCMRejection) in
            if reader.matches(name, "message") {
                hasMessage = true
                try reader.messageObject()
            } else if reader.matches(name, "validate_only") || reader.matches(name, "validateOnly") {
                reader.message.isValidateOnly = try reader.bool(name, of: "")
            } else {
                throw reader.unknown(name, at: "")
            }
        }
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expectEnd() }
        guard hasMessage, hasTarget else { throw .invalid("Recipient of the message is not set.", field: "message") }
        let limit = message.isTopic ? Self.topicPayloadLimit : Self.payloadLimit
        guard message.payloadBytes <= limit else { throw .invalid("Android message is too big") }
        return message
    }

    private mutating func messageObject() throws(FCMRejection) {
        try object(at: "message") { (reader, name) throws(FCMRejection) in
            switch true {
            case reader.matches(name, "token"): try reader.token()
            case reader.matches(name, "data"): try reader.data(at: "message.data", countsPayload: true)
            case reader.matches(name, "notification"): try reader.notification()
            case reader.matches(name, "android"): try reader.android()
            case reader.matches(name, "topic"): try reader.topic()
            case reader.matches(name, "condition"):
                try reader.target("condition")
                reader.message.isTopic = true
                _ = try reader.string(at: "message.condition")
            case reader.matches(name, "name"): _ = try reader.string(at: "message.name")
            case reader.matches(name, "fcm_options"), reader.matches(name, "fcmOptions"):
                try reader.statistics(at: "message.fcm_options", label: "message.fcm_options.analytics_label")
            case reader.matches(name, "apns"), reader.matches(name, "webpush"), reader.matches(name, "android_v2"),
                reader.matches(name, "androidV2"):
                try reader.anyObject(name, of: "message")
            default: throw reader.unknown(name, at: "message")
            }
        }
    }

    /// A message has exactly one of token, topic and condition.
    private mutating func target(_ name: String) throws(FCMRejection) {
        if hasTarget {
            let text = "Invalid value (oneof), oneof field 'message.target' is already set. Cannot set '\(name)'"
            throw .invalid(text, field: "message")
        }
        hasTarget = true
    }

    private mutating func token() throws(FCMRejection) {
        try target("token")
        let text = try string(at: "message.token")
        guard !text.range.isEmpty, !text.hasEscapes, text.range.allSatisfy({ Self.isTokenByte(scanner.bytes[$0]) })
        else {
            throw .invalid("The registration token is not a valid FCM registration token", field: "message.token")
        }
        message.token = text.range
    }

    /// Registration tokens are made of these characters; their length is not fixed.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"),
            UInt8(ascii: "."), UInt8(ascii: "%"):
            true
        default: false
        }
    }

    private mutating func topic() throws(FCMRejection) {
        try target("topic")
        let text = try string(at: "message.topic")
        message.isTopic = true
        let isValid = text.range.allSatisfy { index in
            let byte = scanner.bytes[index]
            return byte == UInt8(ascii: "~") || (byte != UInt8(ascii: ":") && Self.isTokenByte(byte))
        }
        guard isValid, !text.range.isEmpty else {
            throw .invalid("Invalid topic name: it must match [a-zA-Z0-9-_.~%]+", field: "message.topic")
        }
    }
}
