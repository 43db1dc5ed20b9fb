import PushCore

/// The `adb_…` keys of a rich template.
struct RichTemplateLayout: Sendable {
    /// The entries for the payload: next to `aps` on iOS, in `data` on Android, where every value is a string.
    let entries: [PayloadEntry]

    init(_ kind: RichTemplateKind, _ template: ContentSection) {
        let platform = template.platform
        var entries = [PayloadEntry("adb_template_type", .literal(kind.payloadName))]
        if !template.has("version") {
            entries.append(PayloadEntry("adb_version", .literal(RichTemplateKind.version(platform))))
        }
        for key in kind.keys(platform) {
            guard template.has(key.name), let value = template[key.name] else { continue }
            entries.append(PayloadEntry(key.payloadName, Self.node(value, key, platform)))
        }
        self.entries = entries
    }

    private static func node(_ value: JSONValue, _ key: ContentKey, _ platform: Platform) -> PayloadNode {
        switch (key.kind, value) {
        case (.items(let keys, _), .array(let elements)):
            let items = PayloadNode.array(elements.map { item($0, keys, platform) })
            return platform == .android ? .jsonText(items) : items
        case (.color, .string(let text)): return color(text)
        case (.personalisedInteger, .string): return PayloadNode(value)
        default: return .string(of: value)
        }
    }

    private static func item(_ value: JSONValue, _ keys: [ContentKey], _ platform: Platform) -> PayloadNode {
        guard case .object(let entries) = value else { return .object([]) }
        let section = ContentSection(platform: platform, entries: entries)
        return .object(
            keys.compactMap { key in section.text(key.name).map { PayloadEntry(key.payloadName, .text($0)) } }
        )
    }

    /// The SDK expects six digits without a leading `#`.
    static func color(_ text: String) -> PayloadNode {
        PayloadNode(.string(text.utf8.first == UInt8(ascii: "#") ? String(text.dropFirst()) : text))
    }
}
