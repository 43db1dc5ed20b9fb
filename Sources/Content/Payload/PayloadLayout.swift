import PushCore

/// What a payload consists of, before it is compiled.
struct PayloadLayout: Sendable {
    let body: PayloadNode
    let attributes: MessageAttributes

    /// - Parameters:
    ///   - trackedDelivery: the delivery whose ids go into the payload; nil for none.
    ///   - carriesValidity: FCM is told how long to keep a message whose content does not say so.
    init(_ section: ContentSection, format: PayloadFormat, trackedDelivery: Int64?, carriesValidity: Bool = false) {
        switch format {
        case .apns, .apnsBinary:
            let layout = APNsLayout(section, trackedDelivery: trackedDelivery)
            body = layout.body
            attributes = layout.attributes
        case .fcmV1:
            body = FCMLayout(section, trackedDelivery: trackedDelivery, carriesValidity: carriesValidity).message
            attributes = MessageAttributes()
        case .fcmLegacy:
            body = FCMLayout(section, trackedDelivery: trackedDelivery, carriesValidity: carriesValidity).legacyMessage
            attributes = MessageAttributes()
        }
    }

    /// `_mId` and `_dId`, both strings, because the SDKs read no numbers there.
    static func ids(_ delivery: Int64?) -> [PayloadEntry] {
        guard let delivery else { return [] }
        return [
            PayloadEntry(PayloadTemplate.messageIDKey, .messageID),
            PayloadEntry(PayloadTemplate.deliveryIDKey, .literal(DeliveryID.hexText(delivery))),
        ]
    }
}

extension ContentSection {
    /// The value of a key for the payload, nil when it says nothing; only for kinds whose JSON is that of the payload.
    func node(_ key: ContentKey) -> PayloadNode? {
        guard has(key.name), let value = self[key.name] else { return nil }
        switch (key.kind, value) {
        case (.personalisedInteger(let range), .string):
            return text(key.name).map { .checked(CheckedTemplate(text: $0, form: .wholeNumber(range))) }
        case (.color, .string): return checked(key.name, .color)
        case (.time, .string): return checked(key.name, .time)
        case (.label, .string): return checked(key.name, .label)
        case (.texts, .array(let elements)):
            return .array(elements.map(PayloadNode.init))
        default:
            return PayloadNode(value)
        }
    }

    /// A text that the gateway takes in a certain form only: one that is the same for everyone has been checked.
    private func checked(_ key: String, _ form: CheckedTemplate.Form) -> PayloadNode? {
        text(key).map { $0.isLiteral ? .text($0) : .checked(.quoted($0, form)) }
    }
}

/// A value of a payload before it is compiled: JSON with places for what differs from message to message.
indirect enum PayloadNode: Sendable, Hashable {
    /// JSON that needs no escaping: a number, a boolean or null.
    case raw(String)
    case text(TextTemplate)
    /// A value of a certain form from a text with fields; its entry is left out when the text comes out in another form.
    case checked(CheckedTemplate)
    case array([PayloadNode])
    case object([PayloadEntry])
    /// The JSON text of a value, as a string.
    case jsonText(PayloadNode)
    /// The message's `_mId`, as a string.
    case messageID
    /// The push token, as a string.
    case token
    /// The seconds that are left of the message's validity, with what stands around them; its entry is left out where they are not known.
    case validity(prefix: String, suffix: String)
    /// What the gateway counts against its limit, where not the whole body does.
    case counted(PayloadNode)
}

/// One entry of an object of a payload.
struct PayloadEntry: Sendable, Hashable {
    var name: String
    var value: PayloadNode

    init(_ name: String, _ value: PayloadNode) {
        self.name = name
        self.value = value
    }
}

extension PayloadNode {
    /// A value in which every string may have fields. The texts are validated ones, and so compile.
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

    /// A text that means nothing but itself.
    static func literal(_ text: String) -> PayloadNode { .text(TextTemplate(literal: text)) }

    /// A value as FCM's `data` and a rich template's keys want it: a text as it is, anything else as the text of its JSON.
    static func string(of value: JSONValue) -> PayloadNode {
        if case .string = value { PayloadNode(value) } else { .jsonText(PayloadNode(value)) }
    }

    /// The entries of an object; none of anything else.
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
    /// The object with another one put over it: its null removes an entry, its object goes into the one that is there, and anything
    /// else replaces it (the rules of JSON Merge Patch, RFC 7396).
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

    /// The object with what lies at a path counted against the gateway's limit.
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
