extension APNsLayout {
    private static let alertKeys = [
        "title", "title_loc_key", "title_loc_args", "subtitle", "subtitle_loc_key", "subtitle_loc_args", "body",
        "loc_key",
        "loc_args", "action_loc_key", "launch_image",
    ]
    private static let keys = Dictionary(uniqueKeysWithValues: ContentKey.ios.map { ($0.name, $0) })

    /// The object `aps` as the section's own keys make it.
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
        entries += ["interruption_level", "relevance_score", "filter_criteria"].compactMap { entry($0, section) }
        return .object(entries)
    }

    /// What stands beside `aps`: the rich template's keys, and the addresses of medium and click.
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

    /// A percentage as the fraction that APNs wants.
    private static func fraction(_ percent: Int64) -> String {
        if percent % 100 == 0 { return String(percent / 100) }
        let digits = percent < 10 ? "0\(percent)" : "\(percent)"
        return "0." + (digits.hasSuffix("0") ? String(digits.dropLast()) : digits)
    }
}
