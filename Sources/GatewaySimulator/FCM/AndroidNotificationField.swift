/// What kind of JSON value a field of AndroidNotification takes.
enum AndroidNotificationField {
    case text
    case flag
    case other

    /// The fields of FCM's discovery document, by the hash of their names in snake case and in camel case.
    private static let kinds: [MessageKey: AndroidNotificationField] = {
        let texts = [
            "title", "body", "icon", "color", "sound", "tag", "click_action", "body_loc_key", "title_loc_key",
            "channel_id",
            "ticker", "event_time", "image", "notification_priority", "visibility", "proxy",
        ]
        let flags = [
            "sticky", "local_only", "default_sound", "default_vibrate_timings", "default_light_settings",
            "bypass_proxy_notification",
        ]
        let others = ["body_loc_args", "title_loc_args", "vibrate_timings", "notification_count", "light_settings"]
        var kinds: [MessageKey: AndroidNotificationField] = [:]
        func add(_ names: [String], _ kind: AndroidNotificationField) {
            for name in names {
                for spelling in [name, camelCase(name)] {
                    let bytes = Array(spelling.utf8)
                    kinds[MessageKey(hashOf: bytes, bytes.indices)] = kind
                }
            }
        }
        add(texts, .text)
        add(flags, .flag)
        add(others, .other)
        return kinds
    }()

    /// The kind of the field with the name that stands there; nil when there is no such field.
    static func of(_ bytes: [UInt8], _ name: Range<Int>) -> AndroidNotificationField? {
        kinds[MessageKey(hashOf: bytes, name)]
    }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
