import PushCore

/// What a phone shows of a message, read from its payload.
struct PhoneMessage: Sendable, Hashable {
    var title = ""
    var subtitle = ""
    var body = ""
    /// The address of the image; "" for none.
    var image = ""
    /// The number on the app's icon; "" leaves it unchanged.
    var badge = ""
    /// The category, which determines the app's buttons; "" for none.
    var category = ""
    /// The link that a click opens; "" opens the app.
    var link = ""

    /// Whether anything is shown.
    var isShown: Bool { !title.isEmpty || !subtitle.isEmpty || !body.isEmpty }

    /// Reads the payload of a platform.
    init(_ payload: JSONValue, _ platform: Platform) {
        switch platform {
        case .ios: readAPNs(payload)
        case .android: readFCM(payload)
        }
    }

    private mutating func readAPNs(_ payload: JSONValue) {
        let aps = payload["aps"]
        if case .string(let text) = aps["alert"] { body = text }
        let alert = aps["alert"]
        title = Self.text(alert, "title", key: "title-loc-key")
        subtitle = Self.text(alert, "subtitle", key: "subtitle-loc-key")
        if body.isEmpty { body = Self.text(alert, "body", key: "loc-key") }
        badge = aps["badge"].plain
        category = aps["category"].plain
        // A rich template loads its own image.
        image = [payload["mediaUrl"], payload["adb_media"]].map(\.plain).first { !$0.isEmpty } ?? ""
        link = payload["adb_uri"].plain
    }

    private mutating func readFCM(_ payload: JSONValue) {
        // HTTP v1 wraps the message in an envelope; legacy HTTP does not.
        let message = payload["message"] == .null ? payload : payload["message"]
        let own = message["android"]["notification"]
        let notification = own == .null ? message["notification"] : own
        let data = message["data"]
        func first(_ name: String, _ others: [String]) -> String {
            ([notification[name].plain] + others.map { data[$0].plain }).first { !$0.isEmpty } ?? ""
        }
        title = first("title", ["title", "adb_title"])
        body = first("body", ["_msg", "adb_body"])
        if title.isEmpty { title = Self.text(notification, "title", key: "title_loc_key") }
        if body.isEmpty { body = Self.text(notification, "body", key: "body_loc_key") }
        image = first("image", ["adb_image"])
        badge = first("notification_count", ["adb_n_count"])
        link = first("click_action", ["url", "adb_uri"])
    }

    /// A text, or the key of a text that is in the app.
    private static func text(_ alert: JSONValue, _ name: String, key: String) -> String {
        let text = alert[name].plain
        let key = alert[key].plain
        return text.isEmpty && !key.isEmpty ? "⟦\(key)⟧" : text
    }
}

extension JSONValue {
    /// The member of an object; null if there is none.
    fileprivate subscript(_ name: String) -> JSONValue {
        guard case .object(let entries) = self else { return .null }
        return entries.first { $0.name == name }?.value ?? .null
    }

    /// A text or number for display; "" for anything else.
    fileprivate var plain: String {
        switch self {
        case .string(let text), .number(let text): text
        case .null, .boolean, .array, .object: ""
        }
    }
}
