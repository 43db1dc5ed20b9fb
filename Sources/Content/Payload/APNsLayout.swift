import PushCore

/// The layout of an APNs payload, and its headers.
struct APNsLayout: Sendable {
    /// The object `aps`, with the content's raw `aps` merged in.
    let aps: PayloadNode
    /// The entries made from the section's keys, `aps` included, without the variables.
    let ownEntries: [PayloadEntry]
    let attributes: MessageAttributes
    private let variables: [PayloadEntry]
    private let ids: [PayloadEntry]

    /// The keys of `aps` that are visible or audible.
    private static let visibleKeys = ["alert", "badge", "sound"]
    /// The keys of `aps` that are numbers: a text with fields in one of them must give a number.
    static let numberKeys: Set<String> = [
        "badge", "timestamp", "stale-date", "dismissal-date", "content-available", "mutable-content",
        "input-push-token",
    ]

    init(_ section: ContentSection, trackedDelivery: Int64? = nil) {
        aps = Self.aps(section).merging(section.object("aps")) { entry in
            guard case .string(let text) = entry.value, Self.numberKeys.contains(entry.name),
                let template = try? TextTemplate(text)
            else { return PayloadNode(entry.value) }
            return .checked(CheckedTemplate(text: template, form: .wholeNumber(Int64.min...Int64.max)))
        }
        ownEntries = [PayloadEntry("aps", aps)] + Self.entries(section)
        variables = section.variables.map { PayloadEntry($0.name, PayloadNode($0.value)) }
        ids = PayloadLayout.ids(trackedDelivery)
        attributes = Self.attributes(section, aps)
    }

    var body: PayloadNode { .object(ownEntries + variables + ids) }

    var isVisible: Bool { Self.isVisible(aps) }

    /// Whether the push wakes the app, as far as this is known before a message is rendered.
    var wakesApp: Bool {
        switch aps["content-available"] {
        case .raw(let json): json == "1"
        case .checked(let template):
            template.text.literalText.map { CheckedTemplate.wholeNumber(Array($0.utf8)) == 1 } ?? true
        default: false
        }
    }

    private static func isVisible(_ aps: PayloadNode) -> Bool {
        visibleKeys.contains { aps[$0] != nil }
    }

    private static func attributes(_ section: ContentSection, _ aps: PayloadNode) -> MessageAttributes {
        let type = section.string("push_type").flatMap(PushType.init(rawValue:)) ?? derivedType(section, aps)
        var priority = section.number("priority").flatMap(Int.init)
        var expiration = section.number("expiration_seconds").flatMap(Int32.init)
        switch type {
        // "Using priority 10 is an error" for background pushes, and 10 is the default (Apple, "Sending notification
        // requests").
        case .background: priority = priority ?? 5
        // "Set the priority to 10 and the expiration to 0" (the same).
        case .pushtotalk: (priority, expiration) = (priority ?? 10, expiration ?? 0)
        default: break
        }
        return MessageAttributes(
            pushType: type,
            priority: priority,
            expirationSeconds: expiration,
            collapseID: section.text("collapse_id")?.literalText
        )
    }

    private static func derivedType(_ section: ContentSection, _ aps: PayloadNode) -> PushType {
        if aps["event"] != nil || aps["content-state"] != nil { return .liveactivity }
        if aps["content-changed"] != nil { return .widgets }
        return section.isTrue("silent") || !isVisible(aps) ? .background : .alert
    }
}

extension APNsLayout {
    private static let alertKeys = [
        "title", "title_loc_key", "title_loc_args", "subtitle", "subtitle_loc_key", "subtitle_loc_args", "body",
        "loc_key",
        "loc_args", "action_loc_key", "launch_image",
    ]
    private static let keys = Dictionary(uniqueKeysWithValues: ContentKey.ios.map { ($0.name, $0) })

    /// The object `aps` from the section's own keys.
    static func aps(_ section: ContentSection) -> PayloadNode {
        var entries: [PayloadEntry] = []
        let alert = alertKeys.compactMap { entry($0, section) }
        if !alert.isEmpty { entries.append(PayloadEntry("alert", .object(alert))) }
        if section.isTrue("clear_badge") {
            entries.append(PayloadEntry("badge", .raw("0")))
        } else if let badge = entry("badge", section) {
            entries.append(badge)
        }
        if let sound = sound(section) { entries.append(PayloadEntry("sound", sound)) }
        if section.has("template") {
            entries.append(PayloadEntry("category", .literal(RichTemplateKind.category)))
        } else if let category = entry("category", section) {
            entries.append(category)
        }
        entries += ["thread_id", "target_content_id"].compactMap { entry($0, section) }
        if section.isTrue("mutable_content") || section.hasAny(["media_url", "template"]) {
            entries.append(PayloadEntry("mutable-content", .raw("1")))
        }
        if section.isTrue("content_available") || section.isTrue("silent") {
            entries.append(PayloadEntry("content-available", .raw("1")))
        }
        entries += ["interruption_level", "relevance_score"].compactMap { entry($0, section) }
        if let percent = section.number("relevance_percent").flatMap(Int64.init) {
            entries.append(PayloadEntry("relevance-score", .raw(fraction(percent))))
        }
        if let criteria = entry("filter_criteria", section) { entries.append(criteria) }
        return .object(entries)
    }

    /// The entries next to `aps`: the rich template's keys, and the addresses of the medium and the click.
    static func entries(_ section: ContentSection) -> [PayloadEntry] {
        var entries: [PayloadEntry] = []
        if let kind = section.templateKind, let template = section.group("template") {
            entries = RichTemplateLayout(kind, template).entries
            // The template's own extension loads the medium.
            if let media = section.text("media_url") { entries.append(PayloadEntry("adb_media", .text(media))) }
        } else if let media = entry("media_url", section) {
            entries.append(media)
        }
        if let click = entry("click_action", section) { entries.append(click) }
        return entries
    }

    private static func entry(_ name: String, _ section: ContentSection) -> PayloadEntry? {
        guard let key = keys[name], let node = section.node(key) else { return nil }
        return PayloadEntry(key.payloadName, node)
    }

    private static func sound(_ section: ContentSection) -> PayloadNode? {
        guard let sound = section.group("sound") else { return section.text("sound").map(PayloadNode.text) }
        guard let name = sound.text("name") else { return nil }
        guard sound.isTrue("critical") else { return .text(name) }
        var entries = [PayloadEntry("critical", .raw("1")), PayloadEntry("name", .text(name))]
        if let percent = sound.number("volume").flatMap(Int64.init) {
            entries.append(PayloadEntry("volume", .raw(fraction(percent))))
        }
        return .object(entries)
    }

    /// A percentage as the fraction that APNs requires.
    private static func fraction(_ percent: Int64) -> String {
        if percent % 100 == 0 { return String(percent / 100) }
        let digits = percent < 10 ? "0\(percent)" : "\(percent)"
        return "0." + (digits.hasSuffix("0") ? String(digits.dropLast()) : digits)
    }
}
