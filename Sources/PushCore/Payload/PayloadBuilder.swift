/// Puts a payload template together.
struct PayloadBuilder {
    var text: [UInt8] = []
    private(set) var segments: [PayloadSegment] = []
    private(set) var fields: [PersonalisationField]
    private(set) var sections: [SectionSegment] = []
    private(set) var checked: [CheckedSegment] = []
    /// The columns of fields without which a message must not go out.
    private(set) var requiredColumns: Set<Int> = []
    /// Bytes of literal names and values that count against the gateway's limit, when not the whole body does.
    var countedBytes = 0
    /// Whether values count at present.
    var isCounting = false
    private let policy: MissingValuePolicy
    private var columns: [String: Int]
    private var literalStart = 0

    /// - Parameter fields: fields that have columns already.
    init(policy: MissingValuePolicy, fields: [PersonalisationField] = []) {
        self.policy = policy
        self.fields = fields
        columns = Dictionary(fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Appends bytes that are JSON already.
    mutating func raw(_ json: String) {
        text.append(contentsOf: json.utf8)
    }

    /// Appends a text, escaped but without quotes.
    mutating func inside(_ template: TextTemplate, escapes: Int) {
        for piece in template.pieces {
            switch piece {
            case .literal(let literal): self.literal(literal, escapes: escapes)
            case .field(let field): self.field(field, escapes: escapes)
            case .sections(let text): section(text, escapes: escapes)
            }
        }
    }

    /// Appends the message id, without quotes.
    mutating func messageID() {
        append(.messageID)
    }

    /// Appends the push token, without quotes.
    mutating func token() {
        append(.token)
    }

    /// Appends an entry that is left out where its value has not the form that it has to have.
    mutating func checked(_ name: String, _ value: CheckedTemplate, escapes: Int) {
        closeLiteral()
        let (mainSegments, counts) = (segments, isCounting)
        segments = []
        isCounting = false
        // No form has anything in it that JSON would escape.
        inside(value.text, escapes: 0)
        closeLiteral()
        let own = segments
        segments = mainSegments
        isCounting = counts
        var prefix: [UInt8] = []
        JSONText.appendString(name, to: &prefix)
        prefix.append(contentsOf: (":" + value.prefix).utf8)
        var suffix = Array(value.suffix.utf8)
        for _ in 1..<max(escapes, 1) { (prefix, suffix) = (JSONText.escaped(prefix), JSONText.escaped(suffix)) }
        checked.append(
            CheckedSegment(
                segments: own,
                form: value.form,
                prefix: prefix,
                suffix: suffix,
                countedBytes: isCounting ? name.utf8.count : nil
            )
        )
        append(.checked(checked.count - 1))
    }

    /// Ends the last literal; to be called at the end of a body.
    mutating func finish() {
        closeLiteral()
    }

    private mutating func literal(_ literal: String, escapes: Int) {
        var bytes = Array(literal.utf8)
        for level in 0..<max(escapes, 1) {
            if isCounting, level == max(escapes, 1) - 1 { countedBytes += bytes.count }
            if level < escapes { bytes = JSONText.escaped(bytes) }
        }
        text.append(contentsOf: bytes)
    }

    private mutating func field(_ field: PersonalisationField, escapes: Int) {
        closeLiteral()
        let start = text.count
        if policy != .empty { text.append(contentsOf: (field.defaultValue ?? "").utf8) }
        let column = column(of: field)
        if policy == .exclude, field.defaultValue == nil { requiredColumns.insert(column) }
        literalStart = text.count
        append(
            .field(
                FieldSegment(
                    column: column,
                    fallback: start..<text.count,
                    escapes: escapes,
                    isCounted: isCounting
                )
            )
        )
    }

    private mutating func section(_ text: SectionText, escapes: Int) {
        let columns = text.names.map { column(of: PersonalisationField(name: $0)) }
        sections.append(SectionSegment(text: text, columns: columns, escapes: escapes, isCounted: isCounting))
        append(.sections(sections.count - 1))
    }

    private mutating func column(of field: PersonalisationField) -> Int {
        if let known = columns[field.name] { return known }
        columns[field.name] = fields.count
        fields.append(field)
        return fields.count - 1
    }

    private mutating func append(_ segment: PayloadSegment) {
        closeLiteral()
        segments.append(segment)
    }

    private mutating func closeLiteral() {
        if literalStart < text.count { segments.append(.literal(literalStart..<text.count)) }
        literalStart = text.count
    }
}
