extension PayloadBuilder {
    /// Appends a value.
    ///
    /// `escapes` is 1 where JSON stands as itself, and 2 inside of a JSON string.
    mutating func node(_ node: PayloadNode, escapes: Int = 1) {
        switch node {
        case .raw(let json): plain(json)
        case .text(let template): quoted(escapes: escapes) { $0.inside(template, escapes: escapes) }
        case .messageID: quoted(escapes: escapes) { $0.messageID() }
        case .token: quoted(escapes: escapes) { $0.token() }
        case .jsonText(let inner): quoted(escapes: escapes) { $0.node(inner, escapes: escapes + 1) }
        case .counted(let inner):
            isCounting = true
            self.node(inner, escapes: escapes)
            isCounting = false
        case .array(let elements):
            structural("[", escapes)
            for (index, element) in elements.enumerated() {
                if index > 0 { structural(",", escapes) }
                self.node(element, escapes: escapes)
            }
            structural("]", escapes)
        case .object(let entries): object(entries, escapes: escapes)
        case .checked:
            // Only entries can be left out; layouts make no others.
            plain("null")
        }
    }

    private mutating func object(_ entries: [PayloadEntry], escapes: Int) {
        structural("{", escapes)
        var isFirst = true
        for entry in entries {
            if case .checked = entry.value { continue }
            if !isFirst { structural(",", escapes) }
            isFirst = false
            name(entry.name, escapes: escapes)
            node(entry.value, escapes: escapes)
        }
        // Last, so that only their own commas depend on what is there.
        for entry in entries {
            if case .checked(let template) = entry.value { checked(entry.name, template, escapes: escapes) }
        }
        structural("}", escapes)
    }

    private mutating func quoted(escapes: Int, _ body: (inout PayloadBuilder) -> Void) {
        let quote = String(repeating: "\\", count: (1 << (escapes - 1)) - 1) + "\""
        raw(quote)
        body(&self)
        raw(quote)
        if isCounting, escapes > 1 { countedBytes += 2 }
    }

    /// Braces, brackets and commas: part of a counted value only inside of one that is a string.
    private mutating func structural(_ mark: String, _ escapes: Int) {
        raw(mark)
        if isCounting, escapes > 1 { countedBytes += mark.utf8.count }
    }

    private mutating func plain(_ json: String) {
        raw(json)
        if isCounting { countedBytes += json.utf8.count }
    }

    private mutating func name(_ name: String, escapes: Int) {
        var bytes: [UInt8] = []
        JSONText.appendString(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        if isCounting { countedBytes += escapes > 1 ? bytes.count : name.utf8.count }
        for _ in 1..<max(escapes, 1) { bytes = JSONText.escaped(bytes) }
        text.append(contentsOf: bytes)
    }
}
