/// The messages of FCM's two protocols.
struct FCMLayout: Sendable {
    /// The entries of `data` that the section's own keys make: a rich template's, or a data message's texts.
    let ownData: [PayloadEntry]
    let section: ContentSection
    private let ids: [PayloadEntry]

    init(_ section: ContentSection, trackedDelivery: Int64? = nil) {
        self.section = section
        ids = PayloadLayout.ids(trackedDelivery)
        ownData = section.has("template") ? Self.template(section) : Self.dataTexts(section)
    }

    /// The body of a request of HTTP v1.
    var message: PayloadNode {
        var entries = [PayloadEntry("token", .token)]
        if let data { entries.append(PayloadEntry("data", data)) }
        let config = androidConfig
        if !config.isEmpty { entries.append(PayloadEntry("android", .object(config))) }
        // FCM counts whatever is shown, wherever it stands and whoever wrote it.
        let message = PayloadNode.object(entries).merging(section.object("message"))
            .counting(["notification"]).counting(["android", "notification"])
        let isCheck = section.isTrue("validate_only")
        return .object(
            (isCheck ? [PayloadEntry("validate_only", .raw("true"))] : []) + [PayloadEntry("message", message)]
        )
    }

    /// The body of a request of legacy HTTP, without `to` and `registration_ids`.
    var legacyMessage: PayloadNode {
        var entries = texts(["collapse_key", "priority"])
        if let ttl = number("ttl_seconds") { entries.append(PayloadEntry("time_to_live", ttl)) }
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
        if let ttl = number("ttl_seconds", prefix: "\"", suffix: "s\"") { entries.append(PayloadEntry("ttl", ttl)) }
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

    /// A number, with what stands around its digits in the payload.
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
