import PushCore

/// The layout of messages for FCM's two protocols.
struct FCMLayout: Sendable {
    /// The entries of `data` from the section's own keys: those of a rich template, or the texts of a data message.
    let ownData: [PayloadEntry]
    let section: ContentSection
    private let ids: [PayloadEntry]
    private let carriesValidity: Bool

    init(_ section: ContentSection, trackedDelivery: Int64? = nil, carriesValidity: Bool = false) {
        self.section = section
        self.carriesValidity = carriesValidity
        ids = PayloadLayout.ids(trackedDelivery)
        ownData = section.has("template") ? Self.template(section) : Self.dataTexts(section)
    }

    /// The body of an HTTP v1 request.
    var message: PayloadNode {
        var entries = [PayloadEntry("token", .token)]
        if let data { entries.append(PayloadEntry("data", data)) }
        let config = androidConfig
        if !config.isEmpty { entries.append(PayloadEntry("android", .object(config))) }
        // FCM counts everything that is shown, including what the content's raw `message` adds.
        let message = PayloadNode.object(entries).merging(section.object("message"))
            .counting(["notification"]).counting(["android", "notification"])
        let isCheck = section.isTrue("validate_only")
        return .object(
            (isCheck ? [PayloadEntry("validate_only", .raw("true"))] : []) + [PayloadEntry("message", message)]
        )
    }

    /// The body of a legacy HTTP request, without `to` and `registration_ids`.
    var legacyMessage: PayloadNode {
        var entries = texts(["collapse_key", "priority"])
        if let ttl = ttl() { entries.append(PayloadEntry("time_to_live", ttl)) }
        entries += texts(["restricted_package_name"])
        if section.isTrue("validate_only") { entries.append(PayloadEntry("dry_run", .raw("true"))) }
        if let data { entries.append(PayloadEntry("data", data)) }
        let notification = notification.compactMap { entry in
            ContentKey.legacyNotificationNames[entry.name].map { PayloadEntry($0, entry.value) }
        }
        if !notification.isEmpty { entries.append(PayloadEntry("notification", .counted(.object(notification)))) }
        return .object(entries)
    }

    private var data: PayloadNode? {
        let variables = section.variables.map { PayloadEntry($0.name, PayloadNode.string(of: $0.value)) }
        let entries = ids + ownData + variables
        return entries.isEmpty ? nil : .counted(.object(entries))
    }

    private var androidConfig: [PayloadEntry] {
        var entries: [PayloadEntry] = []
        if let priority = section.string("priority") {
            entries.append(PayloadEntry("priority", .literal(priority.uppercased())))
        }
        if let ttl = ttl(prefix: "\"", suffix: "s\"") { entries.append(PayloadEntry("ttl", ttl)) }
        entries += texts(["collapse_key", "restricted_package_name"])
        for key in ["direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok"] {
            if let value = section[key] { entries.append(PayloadEntry(key, PayloadNode(value))) }
        }
        let notification = notification
        if !notification.isEmpty { entries.append(PayloadEntry("notification", .counted(.object(notification)))) }
        if let key = ContentKey.android.first(where: { $0.name == "analytics_label" }), let label = section.node(key) {
            entries.append(PayloadEntry("fcm_options", .object([PayloadEntry(key.payloadName, label)])))
        }
        return entries
    }

    private func texts(_ keys: [String]) -> [PayloadEntry] {
        keys.compactMap { key in section.text(key).map { PayloadEntry(key, .text($0)) } }
    }

    /// How long FCM keeps the message for a device that is off: the content's value, otherwise the remaining validity
    /// of the message.
    private func ttl(prefix: String = "", suffix: String = "") -> PayloadNode? {
        number("ttl_seconds", prefix: prefix, suffix: suffix)
            ?? (carriesValidity ? .validity(prefix: prefix, suffix: suffix) : nil)
    }

    /// A number with the text around its digits in the payload.
    private func number(_ key: String, prefix: String = "", suffix: String = "") -> PayloadNode? {
        if let digits = section.number(key) { return .raw(prefix + digits + suffix) }
        guard case .personalisedInteger(let range) = ContentKey.android.first(where: { $0.name == key })?.kind else {
            return nil
        }
        return section.text(key).map {
            .checked(CheckedTemplate(text: $0, form: .wholeNumber(range), prefix: prefix, suffix: suffix))
        }
    }
}

extension FCMLayout {
    /// The names that a rich template uses for the keys of a notification.
    static let templateNames: [String: String] = [
        "title": "adb_title", "body": "adb_body", "image": "adb_image", "icon": "adb_icon", "sound": "adb_sound",
        "tag": "adb_tag", "channel_id": "adb_channel_id", "ticker": "adb_ticker", "sticky": "adb_sticky",
        "visibility": "adb_n_visibility", "notification_priority": "adb_n_priority",
        "notification_count": "adb_n_count", "click_action": "adb_uri", "color": "adb_clr_icon",
    ]

    /// The names that a data message uses for the keys of a notification. Apps with Adobe's SDK read these (Adobe
    /// Campaign, "Implementing the Campaign SDK in an Android application", `payloadData.get("_msg")`).
    static let dataNames: [String: String] = ["title": "title", "body": "_msg", "click_action": "url"]

    /// The entries of `data` for the texts of a data message.
    static func dataTexts(_ section: ContentSection) -> [PayloadEntry] {
        guard section.string("kind") == "data" else { return [] }
        return ContentKey.notification.compactMap { key in
            guard let name = dataNames[key.name], let text = section.text(key.name) else { return nil }
            return PayloadEntry(name, .text(text))
        }
    }

    /// The entries of `data` for a rich template; all values are strings.
    static func template(_ section: ContentSection) -> [PayloadEntry] {
        guard let kind = section.templateKind, let template = section.group("template") else { return [] }
        var entries: [PayloadEntry] = []
        for key in ContentKey.notification where section.has(key.name) {
            guard let name = templateNames[key.name], let value = section[key.name] else { continue }
            entries.append(PayloadEntry(name, node(value, key)))
        }
        if let link = section.text("click_action")?.literalText, !template.has("link_type") {
            let isWeb = ["http://", "https://"].contains { link.lowercased().hasPrefix($0) }
            entries.append(PayloadEntry("adb_a_type", .literal(isWeb ? "WEBURL" : "DEEPLINK")))
        }
        return entries + RichTemplateLayout(kind, template).entries
    }

    private static func node(_ value: JSONValue, _ key: ContentKey) -> PayloadNode {
        switch (key.name, value) {
        case ("visibility", .string(let word)): .literal(word.uppercased())
        case ("notification_priority", .string(let word)): .literal("PRIORITY_" + word.uppercased())
        case ("color", .string(let text)): RichTemplateLayout.color(text)
        default: .string(of: value)
        }
    }

    /// The entries of `notification`; empty for a data message and a rich template, which the app itself shows.
    var notification: [PayloadEntry] {
        let isNotification = section.hasAny(["title", "body", "title_loc_key", "body_loc_key"])
        guard isNotification, !section.has("template"), section.string("kind") != "data" else { return [] }
        return ContentKey.notification.compactMap { key in
            entry(key).map { PayloadEntry(key.name, $0) }
        }
    }

    private func entry(_ key: ContentKey) -> PayloadNode? {
        guard section.has(key.name), let value = section[key.name] else { return nil }
        switch (key.name, value) {
        case ("visibility", .string(let word)), ("proxy", .string(let word)): return .literal(word.uppercased())
        case ("notification_priority", .string(let word)): return .literal("PRIORITY_" + word.uppercased())
        case ("vibrate_timings", .array(let elements)): return .array(elements.map(Self.duration))
        case ("light_settings", _): return section.group(key.name).map(Self.light)
        default: return section.node(key)
        }
    }

    /// A duration in protobuf's JSON form.
    private static func duration(_ value: JSONValue) -> PayloadNode {
        if case .number(let digits) = value { .literal(digits + "s") } else { .literal("0s") }
    }

    private static func light(_ light: ContentSection) -> PayloadNode {
        var entries: [PayloadEntry] = []
        if let color = light.string("color") { entries.append(PayloadEntry("color", self.color(color))) }
        for (key, name) in [("on_seconds", "light_on_duration"), ("off_seconds", "light_off_duration")] {
            if let value = light[key] { entries.append(PayloadEntry(name, duration(value))) }
        }
        return .object(entries)
    }

    /// A color whose parts are fractions of 1 (`google.type.Color`).
    private static func color(_ text: String) -> PayloadNode {
        let digits = text.utf8.dropFirst().compactMap(HexDigit.value)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { Int(digits[$0]) << 4 | Int(digits[$0 + 1]) }
        let names = ["red", "green", "blue", "alpha"]
        return .object(
            zip(names, bytes + (bytes.count < names.count ? [255] : [])).map { name, byte in
                PayloadEntry(name, .raw("\(Double(byte) / 255)"))
            }
        )
    }
}
