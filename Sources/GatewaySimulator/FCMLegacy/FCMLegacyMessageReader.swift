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
