/// Reads and checks the body of `messages:send`. Names may be in snake case or camel case, as in protobuf's JSON form.
struct FCMMessageReader {
    /// The limit for keys and values together, in bytes.
    static let payloadLimit = 4096
    /// The limit for messages to a topic, in bytes.
    static let topicPayloadLimit = 2048

    var scanner: JSONScanner
    var message = FCMMessage()
    private var hasTarget = false

    /// Checks a body and returns the positions of its parts.
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
        guard !text.range.isEmpty, !text.hasEscapes, Self.isToken(scanner.bytes, text.range) else {
            throw .invalid("The registration token is not a valid FCM registration token", field: "message.token")
        }
        message.token = text.range
    }

    /// Checks eight bytes at once, because a token has 150.
    private static func isToken(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        var index = range.lowerBound
        while index &+ 8 <= range.upperBound {
            guard areTokenBytes(Words.load(bytes, index)) else { return false }
            index &+= 8
        }
        return (index..<range.upperBound).allSatisfy { isTokenByte(bytes[$0]) }
    }

    /// Checks eight bytes as ``isTokenByte(_:)`` checks one.
    @inline(__always)
    static func areTokenBytes(_ word: UInt64) -> Bool {
        // For bytes below 128, adding 128 minus the limit sets the highest bit if the byte reaches the limit.
        func reaches(_ limit: UInt8, _ word: UInt64) -> UInt64 { word &+ Words.all(0x80 &- limit) }
        func lies(_ first: Unicode.Scalar, _ last: Unicode.Scalar, _ word: UInt64) -> UInt64 {
            reaches(UInt8(ascii: first), word) & ~reaches(UInt8(ascii: last) &+ 1, word)
        }
        let plain = word & ~Words.tops
        let letters = lies("a", "z", plain | Words.all(0x20))
        let allowed =
            letters | lies("0", ":", plain) | lies("-", ".", plain) | lies("_", "_", plain) | lies("%", "%", plain)
        return (allowed & ~word) & Words.tops == Words.tops
    }

    /// Registration tokens are made of letters, digits and `-_:.%`; their length is not fixed.
    @inline(__always)
    static func isTokenByte(_ byte: UInt8) -> Bool {
        // A bitmap of allowed bytes: comparing a token's 150 bytes one by one took an eighth of the simulator's time.
        let digits: UInt64 = 0x3FF << 48 | 1 << 58 | 1 << 45 | 1 << 46 | 1 << 37
        let letters: UInt64 = 0x07FF_FFFE | 0x07FF_FFFE << 32 | 1 << 31
        return byte < 128 && (byte < 64 ? digits : letters) >> UInt64(byte & 63) & 1 == 1
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

extension FCMMessageReader {
    /// A map of strings to strings; reserved keys are refused.
    mutating func data(at path: StaticString, countsPayload: Bool) throws(FCMRejection) {
        var number = 0
        try object(at: path) { (reader, name) throws(FCMRejection) in
            if reader.isReserved(name) {
                throw .invalid("Invalid data payload key: \(reader.text(name))", field: "\(path)")
            }
            guard reader.scanner.peek() == UInt8(ascii: "\"") else {
                throw try reader.wrongType("TYPE_STRING", at: "\(path)[\(number)].value")
            }
            let value = try reader.string(at: path)
            if countsPayload {
                if reader.matches(name, "_mId"), !value.hasEscapes { reader.message.messageID = value.range }
                reader.message.payloadBytes += name.range.count + value.range.count
            }
            number += 1
        }
    }

    /// `from`, `message_type` and names that begin with `google` or `gcm` are reserved by Google.
    private func isReserved(_ name: JSONScanner.Text) -> Bool {
        // Names with another first letter need no further check.
        guard let first = name.range.first.map({ scanner.bytes[$0] }),
            first == UInt8(ascii: "f") || first == UInt8(ascii: "g") || first == UInt8(ascii: "m")
                || first == UInt8(ascii: "\\")
        else { return false }
        let key = text(name)
        return key == "from" || key == "message_type" || key.hasPrefix("google.") || key.hasPrefix("gcm.notification.")
    }

    /// `message.notification`: title, body, image.
    mutating func notification() throws(FCMRejection) {
        try object(at: "message.notification") { (reader, name) throws(FCMRejection) in
            guard reader.matches(name, "title") || reader.matches(name, "body") || reader.matches(name, "image") else {
                throw reader.unknown(name, at: "message.notification")
            }
            guard reader.scanner.peek() == UInt8(ascii: "\"") else {
                throw try reader.wrongType("TYPE_STRING", at: "message.notification.\(reader.text(name))")
            }
            let value = try reader.string(at: "message.notification")
            reader.message.payloadBytes += name.range.count + value.range.count
        }
    }
}

extension FCMMessageReader {
    /// Steps through an object; the closure consumes the value of each name.
    mutating func object(
        at path: StaticString,
        _ member: (inout FCMMessageReader, JSONScanner.Text) throws(FCMRejection) -> Void
    ) throws(FCMRejection) {
        guard scanner.peek() == UInt8(ascii: "{") else {
            if scanner.position == 0 || path.utf8CodeUnitCount == 0 { throw malformed(at: scanner.position) }
            throw try wrongType("an object", at: "\(path)")
        }
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expect(UInt8(ascii: "{")) }
        if scanner.take(UInt8(ascii: "}")) { return }
        repeat {
            let name = try string(at: path)
            try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expect(UInt8(ascii: ":")) }
            try member(&self, name)
        } while scanner.take(UInt8(ascii: ","))
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expect(UInt8(ascii: "}")) }
    }

    /// Consumes an object and ignores its members.
    mutating func anyObject(_ name: JSONScanner.Text, of path: StaticString) throws(FCMRejection) {
        guard scanner.peek() == UInt8(ascii: "{") else { throw try wrongType("an object", at: place(name, of: path)) }
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.skipValue() }
    }

    mutating func string(at path: StaticString) throws(FCMRejection) -> JSONScanner.Text {
        do throws(JSONScanner.Fault) { return try scanner.string() } catch { throw malformed(at: error.position) }
    }

    mutating func bool(_ name: JSONScanner.Text, of path: StaticString) throws(FCMRejection) -> Bool {
        switch scanner.peek() {
        case UInt8(ascii: "t"):
            try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.literal("true") }
            return true
        case UInt8(ascii: "f"):
            try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.literal("false") }
            return false
        default: throw try wrongType("TYPE_BOOL", at: place(name, of: path))
        }
    }

    /// Runs a step of the scanner; an error has Google's wording.
    mutating func syntax(_ step: (inout JSONScanner) throws(JSONScanner.Fault) -> Void) throws(FCMRejection) {
        do throws(JSONScanner.Fault) { try step(&scanner) } catch { throw malformed(at: error.position) }
    }

    /// The rejection of text that is not JSON.
    func malformed(at position: Int) -> FCMRejection {
        .invalid("Invalid JSON payload received. Unexpected token at position \(position).", field: "")
    }

    /// The rejection of a name that is not in the schema.
    func unknown(_ name: JSONScanner.Text, at path: String) -> FCMRejection {
        let place = path.isEmpty ? "" : " at '\(path)'"
        return .invalid(
            "Invalid JSON payload received. Unknown name \"\(text(name))\"\(place): Cannot find field.",
            field: path
        )
    }

    /// The rejection of a value of the wrong type; it includes the value, as Google does.
    mutating func wrongType(_ type: String, at path: String) throws(FCMRejection) -> FCMRejection {
        _ = scanner.peek()
        let start = scanner.position
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.skipValue() }
        let value = String(decoding: scanner.bytes[start..<scanner.position], as: UTF8.self)
        return .invalid("Invalid value at '\(path)' (\(type)), \(value)", field: path)
    }

    /// Compares a name or a value with a known word, byte by byte.
    @inline(__always)
    func matches(_ text: JSONScanner.Text, _ word: StaticString) -> Bool {
        guard text.range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { known in
            for offset in 0..<known.count where known[offset] != scanner.bytes[text.range.lowerBound &+ offset] {
                return false
            }
            return true
        }
    }

    /// The text for an error message.
    func text(_ text: JSONScanner.Text) -> String {
        String(decoding: scanner.decoded(text), as: UTF8.self)
    }

    /// The path of a member, for error messages.
    func place(_ name: JSONScanner.Text, of path: StaticString) -> String {
        path.utf8CodeUnitCount == 0 ? text(name) : "\(path).\(text(name))"
    }
}

/// What the gateway needs from a valid message: positions in the body, nothing copied.
struct FCMMessage: Equatable {
    /// The registration token; nil for a topic or a condition.
    var token: Range<Int>?
    /// The value of `_mId` in `message.data`.
    var messageID: Range<Int>?
    /// Whether the message is only validated.
    var isValidateOnly = false
    /// The size of keys and values that counts against the limit of 4,096, in bytes.
    var payloadBytes = 0
    /// Whether the message is for a topic, with a limit of 2,048 bytes.
    var isTopic = false
}
