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

/// Reads and checks the JSON body of a legacy request. Like Google, it ignores unknown fields.
struct FCMLegacyMessageReader {
    private var scanner: JSONScanner
    private var message = FCMLegacyMessage()
    private var hasTo = false
    private var hasTargets = false

    static func read(_ body: [UInt8]) throws(FCMLegacyRefusal) -> FCMLegacyMessage {
        var reader = FCMLegacyMessageReader(scanner: JSONScanner(body))
        return try reader.read()
    }

    private init(scanner: JSONScanner) {
        self.scanner = scanner
    }

    private mutating func read() throws(FCMLegacyRefusal) -> FCMLegacyMessage {
        try object("The request") { (reader, name) throws(FCMLegacyRefusal) in try reader.field(name) }
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expectEnd() }
        if hasTo, hasTargets {
            throw FCMLegacyRefusal(text: "Must use either \"registration_ids\" field or \"to\", not both")
        }
        message.finish()
        return message
    }

    private mutating func field(_ name: String) throws(FCMLegacyRefusal) {
        switch name {
        case "to": try to()
        case "registration_ids": try targets()
        case "condition": try condition()
        case "collapse_key", "restricted_package_name": _ = try string(name)
        case "priority":
            let priority = try string(name)
            guard priority == "normal" || priority == "high" else {
                throw FCMLegacyRefusal(text: "InvalidParameters: Invalid priority: \(priority)")
            }
        case "content_available", "mutable_content": _ = try flag(name)
        case "dry_run": message.isDryRun = try flag(name)
        case "time_to_live": try timeToLive()
        case "data":
            try object(name) { (reader, key) throws(FCMLegacyRefusal) in
                let value = try reader.value()
                reader.message.addData(name: Array(key.utf8), value: value)
            }
        case "notification":
            try object(name) { (reader, key) throws(FCMLegacyRefusal) in
                let value = try reader.value()
                reader.message.payloadBytes += key.utf8.count + value.count
            }
        default: _ = try value()
        }
    }

    // MARK: Targets

    private mutating func to() throws(FCMLegacyRefusal) {
        let target = try string("to")
        hasTo = true
        if target.hasPrefix("/topics/") {
            message.isTopic = true
        } else if !target.isEmpty {
            message.addTarget(Array(target.utf8))
        }
    }

    private mutating func targets() throws(FCMLegacyRefusal) {
        guard scanner.peek() == UInt8(ascii: "[") else { throw try wrongType("registration_ids", "array") }
        hasTargets = true
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expect(UInt8(ascii: "[")) }
        if !scanner.take(UInt8(ascii: "]")) {
            repeat {
                message.addTarget(Array(try string("registration_ids").utf8))
            } while scanner.take(UInt8(ascii: ","))
            try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expect(UInt8(ascii: "]")) }
        }
        guard !message.targets.isEmpty else {
            throw FCMLegacyRefusal(text: "\"registration_ids\" field cannot be empty")
        }
        guard message.targets.count <= FCMLegacyMessage.maxTargets else {
            throw FCMLegacyRefusal(
                text: "Number of messages on bulk (\(message.targets.count)) exceeds maximum allowed (1000)"
            )
        }
    }

    private mutating func condition() throws(FCMLegacyRefusal) {
        let text = try string("condition")
        message.isTopic = true
        // "You can include up to five topics", and two operators in the older form of the document.
        guard text.contains("in topics"), text.split(separator: "'").count <= 11 else {
            throw FCMLegacyRefusal(text: "InvalidParameters: Invalid condition")
        }
    }

    // MARK: Values

    private mutating func timeToLive() throws(FCMLegacyRefusal) {
        guard let first = scanner.peek(), first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else {
            throw try wrongType("time_to_live", "number")
        }
        let text = String(decoding: try value(), as: UTF8.self)
        guard let seconds = Int(text), (0...FCMLegacyMessage.maxTTL).contains(seconds) else {
            return message.note(.invalidTTL)
        }
    }

    /// Any value: the contents of a string, or the text of another value.
    private mutating func value() throws(FCMLegacyRefusal) -> [UInt8] {
        if scanner.peek() == UInt8(ascii: "\"") { return Array(try string("").utf8) }
        let start = scanner.position
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.skipValue() }
        return Array(scanner.bytes[start..<scanner.position])
    }

    private mutating func flag(_ name: String) throws(FCMLegacyRefusal) -> Bool {
        let first = scanner.peek()
        guard first == UInt8(ascii: "t") || first == UInt8(ascii: "f") else { throw try wrongType(name, "boolean") }
        return String(decoding: try value(), as: UTF8.self) == "true"
    }

    private mutating func string(_ name: String) throws(FCMLegacyRefusal) -> String {
        guard scanner.peek() == UInt8(ascii: "\"") else { throw try wrongType(name, "string") }
        var text: JSONScanner.Text?
        try syntax { (scanner) throws(JSONScanner.Fault) in text = try scanner.string() }
        return text.map { String(decoding: scanner.decoded($0), as: UTF8.self) } ?? ""
    }

    private mutating func object(
        _ name: String,
        _ member: (inout FCMLegacyMessageReader, String) throws(FCMLegacyRefusal) -> Void
    ) throws(FCMLegacyRefusal) {
        guard scanner.peek() == UInt8(ascii: "{") else { throw try wrongType(name, "object") }
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expect(UInt8(ascii: "{")) }
        if scanner.take(UInt8(ascii: "}")) { return }
        repeat {
            let name = try string("name")
            try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expect(UInt8(ascii: ":")) }
            try member(&self, name)
        } while scanner.take(UInt8(ascii: ","))
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.expect(UInt8(ascii: "}")) }
    }

    /// Runs a step of the scanner; an error has Google's wording.
    private mutating func syntax(_ step: (inout JSONScanner) throws(JSONScanner.Fault) -> Void) throws(FCMLegacyRefusal)
    {
        do throws(JSONScanner.Fault) {
            try step(&scanner)
        } catch {
            throw FCMLegacyRefusal(text: "JSON_PARSING_ERROR: Unexpected character at position \(error.position)")
        }
    }

    private mutating func wrongType(_ name: String, _ type: String) throws(FCMLegacyRefusal) -> FCMLegacyRefusal {
        let value = String(decoding: try value(), as: UTF8.self)
        return FCMLegacyRefusal(text: "Field \"\(name)\" must be a JSON \(type): \(value)")
    }
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
