import PushCore

/// A value of a payload before it is compiled: JSON with places for the values that differ between messages.
indirect enum PayloadNode: Sendable, Hashable {
    /// JSON that needs no escaping: a number, a boolean or null.
    case raw(String)
    case text(TextTemplate)
    /// A value that must have a certain form, from a text with fields; its entry is left out if the text does not have
    /// it.
    case checked(CheckedTemplate)
    case array([PayloadNode])
    case object([PayloadEntry])
    /// The JSON text of a value, as a string.
    case jsonText(PayloadNode)
    /// The message's `_mId`, as a string.
    case messageID
    /// The push token, as a string.
    case token
    /// The remaining validity of the message in seconds, with the text around it; its entry is left out if it is
    /// unknown.
    case validity(prefix: String, suffix: String)
    /// A value that counts against the gateway's limit, if the limit does not cover the whole body.
    case counted(PayloadNode)
}

extension PayloadNode {
    /// A value in which every string may have fields. The texts have been validated, so they compile.
    init(_ value: JSONValue) {
        switch value {
        case .null: self = .raw("null")
        case .boolean(let flag): self = .raw(flag ? "true" : "false")
        case .number(let digits): self = .raw(digits)
        case .string(let text): self = .text((try? TextTemplate(text)) ?? TextTemplate(literal: text))
        case .array(let elements): self = .array(elements.map(PayloadNode.init))
        case .object(let entries):
            if let typed = CheckedTemplate.typed(entries) {
                self = .checked(typed)
            } else {
                self = .object(entries.map { PayloadEntry($0.name, PayloadNode($0.value)) })
            }
        }
    }

    /// A text without fields, whatever characters it has.
    static func literal(_ text: String) -> PayloadNode { .text(TextTemplate(literal: text)) }

    /// A value as FCM's `data` and a rich template's keys require it: a text as is, anything else as its JSON text.
    static func string(of value: JSONValue) -> PayloadNode {
        if case .string = value { PayloadNode(value) } else { .jsonText(PayloadNode(value)) }
    }

    /// The entries of an object; empty for any other value.
    var entries: [PayloadEntry] {
        switch self {
        case .object(let entries): entries
        case .counted(let node): node.entries
        default: []
        }
    }

    /// The value of an entry.
    subscript(name: String) -> PayloadNode? {
        entries.first { $0.name == name }?.value
    }
}

extension PayloadNode {
    /// The object with a patch applied: a null removes the entry, an object is merged into the existing one, and
    /// anything else replaces it (the rules of JSON Merge Patch, RFC 7396).
    func merging(_ patch: [JSONEntry], convert: (JSONEntry) -> PayloadNode = { PayloadNode($0.value) }) -> PayloadNode {
        if case .counted(let node) = self { return .counted(node.merging(patch, convert: convert)) }
        var entries = self.entries.map(Optional.some)
        var indexes = Dictionary(
            self.entries.enumerated().map { ($1.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for change in patch {
            let index = indexes[change.name] ?? entries.count
            let old = index < entries.count ? entries[index]?.value : nil
            let new: PayloadNode?
            switch change.value {
            case .null: new = nil
            case .object(let inner) where CheckedTemplate.typed(inner) == nil:
                new = (old.flatMap { $0.isObject ? $0 : nil } ?? .object([])).merging(inner)
            default: new = convert(change)
            }
            let entry = new.map { PayloadEntry(change.name, $0) }
            if index < entries.count { entries[index] = entry } else { entries.append(entry) }
            indexes[change.name] = index
        }
        return .object(entries.compactMap { $0 })
    }

    /// The object with the value at a path counted against the gateway's limit.
    func counting(_ path: ArraySlice<String>) -> PayloadNode {
        if case .counted = self { return self }
        guard let name = path.first else { return .counted(self) }
        guard case .object(var entries) = self, let index = entries.firstIndex(where: { $0.name == name }) else {
            return self
        }
        entries[index].value = entries[index].value.counting(path.dropFirst())
        return .object(entries)
    }

    private var isObject: Bool {
        switch self {
        case .object: true
        case .counted(let node): node.isObject
        default: false
        }
    }
}
