/// The payload of APNs and its headers.
struct APNsLayout: Sendable {
    /// The object `aps`, the raw one put over it.
    let aps: PayloadNode
    /// What stands beside `aps` and the variables and is made of other keys.
    let ownEntries: [PayloadEntry]
    let attributes: MessageAttributes
    private let variables: [PayloadEntry]
    private let ids: [PayloadEntry]

    /// The keys of `aps` that show something.
    private static let visibleKeys = ["alert", "badge", "sound"]
    /// The keys of `aps` that are numbers, so that a text with fields in their place gives one.
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

    /// Whether it shows something.
    var isVisible: Bool { Self.isVisible(aps) }

    /// Whether it wakes the app, as far as that is known before a message is rendered.
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
