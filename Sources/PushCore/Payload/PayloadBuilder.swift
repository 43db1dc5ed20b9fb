/// Puts a payload template together.
struct PayloadBuilder {
    private(set) var text: [UInt8] = []
    private(set) var segments: [PayloadSegment] = []
    private(set) var fields: [PersonalisationField] = []
    /// Bytes of literal names and values that count against the gateway's limit, when not the whole body does.
    var countedBytes = 0
    /// Whether values count at present.
    var isCounting = false
    private var literalStart = 0

    /// Appends bytes that are JSON already.
    mutating func raw(_ json: String) {
        text.append(contentsOf: json.utf8)
    }

    /// Appends `"name":`, after a comma unless it is the first entry of its object.
    mutating func name(_ name: String, isFirst: inout Bool) {
        if !isFirst { raw(",") }
        isFirst = false
        JSONText.appendString(name, to: &text)
        raw(":")
        if isCounting { countedBytes += name.utf8.count }
    }

    /// Appends a text as a JSON string.
    mutating func string(_ template: TextTemplate, escapes: Int = 1) {
        let quote = escapes == 1 ? "\"" : "\\\""
        raw(quote)
        inside(template, escapes: escapes)
        raw(quote)
    }

    /// Appends a text, escaped but without quotes.
    mutating func inside(_ template: TextTemplate, escapes: Int) {
        for piece in template.pieces {
            switch piece {
            case .literal(let literal): self.literal(literal, escapes: escapes)
            case .field(let field): self.field(field, escapes: escapes)
            }
        }
    }

    /// Appends the message id, without quotes.
    mutating func messageID() {
        closeLiteral()
        segments.append(.messageID)
    }

    /// Appends the push token, without quotes.
    mutating func token() {
        closeLiteral()
        segments.append(.token)
    }

    /// Ends the last literal; to be called once, at the end.
    mutating func finish() {
        closeLiteral()
    }

    private mutating func literal(_ literal: String, escapes: Int) {
        var bytes = Array(literal.utf8)
        if isCounting { countedBytes += bytes.count }
        for _ in 0..<escapes { bytes = JSONText.escaped(bytes) }
        text.append(contentsOf: bytes)
    }

    private mutating func field(_ field: PersonalisationField, escapes: Int) {
        closeLiteral()
        let start = text.count
        text.append(contentsOf: (field.defaultValue ?? "").utf8)
        segments.append(
            .field(
                FieldSegment(
                    column: column(of: field),
                    fallback: start..<text.count,
                    escapes: escapes,
                    isCounted: isCounting
                )
            )
        )
        literalStart = text.count
    }

    private mutating func column(of field: PersonalisationField) -> Int {
        if let known = fields.firstIndex(where: { $0.name == field.name }) { return known }
        fields.append(field)
        return fields.count - 1
    }

    private mutating func closeLiteral() {
        if literalStart < text.count { segments.append(.literal(literalStart..<text.count)) }
        literalStart = text.count
    }
}
