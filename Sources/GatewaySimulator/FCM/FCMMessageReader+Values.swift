extension FCMMessageReader {
    /// Steps through an object; the body takes the value of each name.
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

    /// Takes an object whose members are of no interest.
    mutating func anyObject(_ name: JSONScanner.Text, of path: StaticString) throws(FCMRejection) {
        guard scanner.peek() == UInt8(ascii: "{") else { throw try wrongType("an object", at: place(name, of: path)) }
        try syntax { (scanner) throws(JSONScanner.Fault) in try scanner.skipValue() }
    }

    /// Takes a string.
    mutating func string(at path: StaticString) throws(FCMRejection) -> JSONScanner.Text {
        do throws(JSONScanner.Fault) { return try scanner.string() } catch { throw malformed(at: error.position) }
    }

    /// Takes `true` or `false`.
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

    /// Runs a step of the scanner and words its failure as Google does.
    mutating func syntax(_ step: (inout JSONScanner) throws(JSONScanner.Fault) -> Void) throws(FCMRejection) {
        do throws(JSONScanner.Fault) { try step(&scanner) } catch { throw malformed(at: error.position) }
    }

    /// The rejection of a text that is not JSON.
    func malformed(at position: Int) -> FCMRejection {
        .invalid("Invalid JSON payload received. Unexpected token at position \(position).", field: "")
    }

    /// The rejection of a name that the schema does not have.
    func unknown(_ name: JSONScanner.Text, at path: String) -> FCMRejection {
        let place = path.isEmpty ? "" : " at '\(path)'"
        return .invalid(
            "Invalid JSON payload received. Unknown name \"\(text(name))\"\(place): Cannot find field.",
            field: path
        )
    }

    /// The rejection of a value of another type; it shows the value, as Google does.
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
