import PushCore

/// Builds a payload template.
struct PayloadBuilder {
    var text: [UInt8] = []
    private(set) var segments: [PayloadSegment] = []
    private(set) var fields: [PersonalisationField]
    private(set) var sections: [SectionSegment] = []
    private(set) var checked: [CheckedSegment] = []
    private(set) var paths: [PathSegment] = []
    /// The columns of fields without which a message must not be sent.
    private(set) var requiredColumns: Set<Int> = []
    /// The indexes of the paths without which a message must not be sent.
    private(set) var requiredPaths: [Int] = []
    /// The size of literal names and values that count against the gateway's limit, if the limit does not cover the
    /// whole body.
    var countedBytes = 0
    /// Whether values count at the moment.
    var isCounting = false
    private let policy: MissingValuePolicy
    private var columns: [String: Int]
    private var literalStart = 0

    /// - Parameter fields: fields that already have columns.
    init(policy: MissingValuePolicy, fields: [PersonalisationField] = []) {
        self.policy = policy
        self.fields = fields
        columns = Dictionary(fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Appends text that is already JSON.
    mutating func raw(_ json: String) {
        text.append(contentsOf: json.utf8)
    }

    /// Appends an escaped text without quotes.
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

    /// Appends an entry that is left out if its value does not have the required form. Without a name it appends a
    /// single value, for example an element of a list, which is null in that case.
    mutating func checked(_ name: String?, _ value: CheckedTemplate, escapes: Int) {
        closeLiteral()
        let (mainSegments, counts) = (segments, isCounting)
        segments = []
        isCounting = false
        // No form allows a character that JSON would escape.
        inside(value.text, escapes: 0)
        closeLiteral()
        let own = segments
        segments = mainSegments
        isCounting = counts
        var prefix: [UInt8] = []
        if let name {
            JSONText.appendString(name, to: &prefix)
            prefix.append(UInt8(ascii: ":"))
        }
        prefix.append(contentsOf: value.prefix.utf8)
        var suffix = Array(value.suffix.utf8)
        for _ in 1..<max(escapes, 1) { (prefix, suffix) = (JSONText.escaped(prefix), JSONText.escaped(suffix)) }
        checked.append(
            CheckedSegment(
                segments: own,
                form: value.form,
                prefix: prefix,
                suffix: suffix,
                isEntry: name != nil,
                countedBytes: isCounting ? name?.utf8.count ?? 0 : nil
            )
        )
        append(.checked(checked.count - 1))
    }

    /// Appends an entry with the remaining validity of the message, in seconds.
    mutating func validity(_ name: String, prefix: String, suffix: String) {
        closeLiteral()
        let start = text.count
        JSONText.appendString(name, to: &text)
        text.append(contentsOf: (":" + prefix).utf8)
        let middle = text.count
        text.append(contentsOf: suffix.utf8)
        // These bytes are not part of the next literal.
        literalStart = text.count
        append(.validity(start..<middle, middle..<text.count))
    }

    /// Ends the last literal; call it at the end of a body.
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
        let isRequired = policy == .exclude && field.defaultValue == nil
        literalStart = text.count
        let segment = FieldSegment(
            column: column,
            fallback: start..<text.count,
            escapes: escapes,
            isCounted: isCounting
        )
        guard let place = place(of: field.name) else {
            if isRequired { requiredColumns.insert(column) }
            return append(.field(segment))
        }
        if isRequired { requiredPaths.append(paths.count) }
        paths.append(PathSegment(field: segment, place: place))
        append(.path(paths.count - 1))
    }

    /// The place of a name that is a path; nil for any other name.
    private mutating func place(of name: String) -> FieldPlace? {
        guard let path = FieldPath(name) else { return nil }
        return FieldPlace(column: column(of: PersonalisationField(name: path.root)), path: path)
    }

    private mutating func section(_ text: SectionText, escapes: Int) {
        let columns = text.names.map { column(of: PersonalisationField(name: $0)) }
        let places = text.names.map { place(of: $0) }
        sections.append(
            SectionSegment(text: text, columns: columns, places: places, escapes: escapes, isCounted: isCounting)
        )
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

extension PayloadBuilder {
    /// Appends a value.
    ///
    /// `escapes` is 1 for JSON itself, and 2 inside a JSON string.
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
        case .checked(let template): checked(nil, template, escapes: escapes)
        case .validity:
            // Only an entry can be left out, and layouts use this only in entries.
            plain("null")
        }
    }

    private mutating func object(_ entries: [PayloadEntry], escapes: Int) {
        structural("{", escapes)
        var isFirst = true
        for entry in entries {
            switch entry.value {
            case .checked, .validity: continue
            default: break
            }
            if !isFirst { structural(",", escapes) }
            isFirst = false
            name(entry.name, escapes: escapes)
            node(entry.value, escapes: escapes)
        }
        // They come last, so that only their own commas depend on which of them are written.
        for entry in entries {
            switch entry.value {
            case .checked(let template): checked(entry.name, template, escapes: escapes)
            case .validity(let prefix, let suffix): validity(entry.name, prefix: prefix, suffix: suffix)
            default: break
            }
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

    /// Braces, brackets and commas count only inside a value that is itself a string.
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
