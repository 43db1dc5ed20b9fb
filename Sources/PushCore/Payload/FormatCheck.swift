/// Checks that a section says nothing that its gateway's protocol cannot.
struct FormatCheck {
    let format: PayloadFormat
    /// The section's path in the content.
    let path: String
    private(set) var problems: [ContentProblem] = []

    init(format: PayloadFormat, path: String) {
        self.format = format
        self.path = path
    }

    mutating func check(_ section: ContentSection) {
        switch format {
        case .apnsBinary: checkBinary(section)
        case .fcmLegacy: checkLegacy(section)
        case .apns, .fcmV1: break
        }
    }

    /// Rich content needs the HTTP/2 connector (Adobe Campaign, "Rich notifications"), and the binary protocol has no headers.
    private mutating func checkBinary(_ section: ContentSection) {
        let remedy = "leave it out, or send by an external account with the connector ios-http2"
        let rich = ["subtitle", "subtitle_loc_key", "media_url", "template"].filter { section.has($0) }
        let layout = APNsLayout(section)
        for key in rich { add(key, "the binary connector sends no rich content", remedy) }
        if layout.aps["mutable-content"] != nil, section.isTrue("mutable_content") || rich.isEmpty {
            add("mutable_content", "the binary connector sends no rich content", remedy)
        }
        if section.has("collapse_id") { add("collapse_id", "the binary protocol has no collapse id", remedy) }
        if section.number("priority") == "1" { add("priority", "the binary protocol knows 10 and 5 only", remedy) }
        let type = layout.attributes.pushType
        if type != .alert, type != .background {
            add("push_type", "the binary protocol has no pushes of type \(type.rawValue)", remedy)
        }
    }

    private mutating func checkLegacy(_ section: ContentSection) {
        let remedy = "leave it out, or give the application a service account, with which it speaks HTTP v1"
        var keys = [
            "direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok", "analytics_label", "message",
        ]
        if !section.has("template") {
            keys += ContentKey.notification.map(\.name).filter { ContentKey.legacyNotificationNames[$0] == nil }
        }
        for key in keys where section.has(key) { add(key, "FCM's legacy protocol does not know it", remedy) }
        // FCM legacy HTTP, `data`: "any word starting with google or gcm".
        for variable in section.variables where ["google", "gcm"].contains(where: { variable.name.hasPrefix($0) }) {
            add(
                "variables.\(variable.name)",
                "names that begin with google or gcm are reserved by FCM's legacy protocol",
                "choose another name"
            )
        }
    }

    private mutating func add(_ key: String, _ cause: String, _ remedy: String) {
        problems.append(ContentProblem(key: "\(path).\(key)", cause: cause, remedy: remedy))
    }
}
