extension PayloadBuilder {
    /// Appends a value in which every string may have fields.
    ///
    /// `escapes` is 1 where JSON stands as itself, and 2 inside of a JSON string.
    mutating func value(_ value: JSONValue, escapes: Int = 1) {
        switch value {
        case .null: plain("null")
        case .boolean(let flag): plain(flag ? "true" : "false")
        case .number(let digits): plain(digits)
        case .string(let text): template(text).map { string($0, escapes: escapes) }
        case .array(let elements):
            plain("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { plain(",") }
                self.value(element, escapes: escapes)
            }
            plain("]")
        case .object(let entries):
            plain("{")
            for (index, entry) in entries.enumerated() {
                if index > 0 { plain(",") }
                nestedName(entry.name, escapes: escapes)
                self.value(entry.value, escapes: escapes)
            }
            plain("}")
        }
    }

    /// Appends a value as a JSON string: a text as it is, anything else as its JSON text.
    mutating func stringOfValue(_ value: JSONValue) {
        raw("\"")
        switch value {
        case .string(let text): template(text).map { inside($0, escapes: 1) }
        default: self.value(value, escapes: 2)
        }
        raw("\"")
    }

    private mutating func plain(_ text: String) {
        raw(text)
        if isCounting { countedBytes += text.utf8.count }
    }

    private mutating func nestedName(_ name: String, escapes: Int) {
        var bytes: [UInt8] = []
        JSONText.appendString(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        if isCounting { countedBytes += bytes.count }
        for _ in 1..<escapes { bytes = JSONText.escaped(bytes) }
        raw(String(decoding: bytes, as: UTF8.self))
    }

    /// A validated text always compiles.
    private func template(_ text: String) -> TextTemplate? {
        try? TextTemplate(text)
    }
}
