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

    /// `from`, `message_type` and what begins with `google` or `gcm` belong to Google.
    private func isReserved(_ name: JSONScanner.Text) -> Bool {
        // Their first letters; everything else needs no closer look.
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
