import PushCore

extension ContentKey {
    /// Four weeks, FCM's own limit (FCM v1, `AndroidConfig.ttl`).
    private static let maxTimeToLive: Int64 = 2_419_200

    /// The keys of the section `android`.
    static let android: [ContentKey] = kind + notification + behaviour + request

    /// The keys of FCM's object `notification`, in FCM's order (FCM v1, `AndroidNotification`).
    static let notification: [ContentKey] = [
        ContentKey("title", .text, "The title."),
        ContentKey("title_loc_key", .text, "The key of the title in the app's own texts."),
        ContentKey("title_loc_args", .texts, "What stands for the placeholders of that text."),
        ContentKey("body", .text, "The message itself."),
        ContentKey("body_loc_key", .text, "The key of the message in the app's own texts."),
        ContentKey("body_loc_args", .texts, "What stands for the placeholders of that text."),
        ContentKey("channel_id", .text, "The app's notification channel."),
        ContentKey("icon", .text, "The name of the small icon in the app."),
        ContentKey("sound", .text, "The sound: \"default\", or one of the app's own files."),
        ContentKey("tag", .text, "What makes a later notification replace an earlier one in the drawer."),
        ContentKey("color", .color, "The color of the icon."),
        ContentKey("click_action", .text, "What a click opens: an intent filter, or the address of a rich template."),
        ContentKey("image", .text, "The address of an image."),
        ContentKey("ticker", .text, "What accessibility services read out."),
        ContentKey("sticky", .boolean, "Whether it stays after a click."),
        ContentKey("visibility", .choice(["private", "public", "secret"]), "What of it the lock screen shows."),
        ContentKey(
            "notification_priority",
            .choice(["min", "low", "default", "high", "max"]),
            "How prominently it is shown."
        ),
        ContentKey("notification_count", .personalisedInteger(0...Int64(Int32.max)), "The number at the app's icon."),
        ContentKey("event_time", .time, "When what it tells of takes place."),
        ContentKey("local_only", .boolean, "Whether it stays on this device and is not shown on a watch, say."),
        ContentKey("default_sound", .boolean, "Whether it has the device's sound."),
        ContentKey("default_vibrate_timings", .boolean, "Whether it vibrates as the device does."),
        ContentKey("default_light_settings", .boolean, "Whether it blinks as the device does."),
        ContentKey("vibrate_timings", .secondsList, "Seconds of rest and of vibration in turn."),
        ContentKey("light_settings", .group(light), "How the device's light blinks."),
        ContentKey(
            "bypass_proxy_notification",
            .boolean,
            "Whether it is shown even if another app replaces the FCM SDK's."
        ),
        ContentKey("proxy", .choice(["allow", "deny", "if_priority_lowered"]), "Whether FCM may show it for the app."),
    ]

    /// The keys of `notification` that the legacy protocol has, with their names there (FCM legacy HTTP, "Notification
    /// payload support").
    static let legacyNotificationNames: [String: String] = [
        "title": "title", "title_loc_key": "title_loc_key", "title_loc_args": "title_loc_args", "body": "body",
        "body_loc_key": "body_loc_key", "body_loc_args": "body_loc_args", "channel_id": "android_channel_id",
        "icon": "icon", "sound": "sound", "tag": "tag", "color": "color", "click_action": "click_action",
    ]

    private static let light: [ContentKey] = [
        ContentKey("color", .lightColor, "The color; two more digits are its opacity.", isRequired: true),
        ContentKey("on_seconds", .seconds, "How long it is on.", payload: "light_on_duration", isRequired: true),
        ContentKey("off_seconds", .seconds, "How long it is off.", payload: "light_off_duration", isRequired: true),
    ]

    private static let kind: [ContentKey] = [
        ContentKey(
            "kind",
            .choice(["data", "notification"]),
            "A data message is shown by the app: its title, body and click_action are title, _msg and url beside the variables. A notification message is shown by Android itself."
        )
    ]

    private static let behaviour: [ContentKey] = [
        ContentKey("variables", .variables(.android), "The application's own variables, FCM's `data`."),
        ContentKey("template", .template(.android), "A rich template of the Adobe Experience Platform SDK."),
        ContentKey(
            "message",
            .message,
            "What is put over the FCM v1 message that the other keys make. A null removes a key."
        ),
    ]

    private static let request: [ContentKey] = [
        ContentKey(
            "ttl_seconds",
            .personalisedInteger(0...maxTimeToLive),
            "How long FCM keeps it for a device that is off; 0 is one attempt; if unset, as long as the delivery is valid."
        ),
        ContentKey("priority", .choice(["normal", "high"]), "Whether it may wake the device."),
        ContentKey(
            "collapse_key",
            .text,
            "What makes a later message replace an earlier one that waits; four at a time."
        ),
        ContentKey("restricted_package_name", .packageName, "The only app that may get it."),
        ContentKey("direct_boot_ok", .boolean, "Whether it may arrive before the device is first unlocked."),
        ContentKey("bandwidth_constrained_ok", .boolean, "Whether it may arrive over a narrow network."),
        ContentKey("restricted_satellite_ok", .boolean, "Whether it may arrive over a restricted satellite network."),
        ContentKey(
            "analytics_label",
            .label,
            "The label of FCM's own statistics: at most 50 letters, digits and -_.~%."
        ),
        ContentKey("validate_only", .boolean, "Whether FCM only checks it and delivers nothing."),
    ]
}

/// The keys of an FCM HTTP v1 message, for the content's raw `message`.
///
/// FCM refuses a message with an unknown name. The tables follow FCM v1's discovery document ("Message",
/// "AndroidConfig", "AndroidNotification"), so a typing error is found before it makes every message of a delivery
/// fail.
extension ContentKey {
    /// Four weeks, FCM's own limit (FCM v1, `AndroidConfig.ttl`), in seconds.
    static let maxTTL = 2_419_200.0
    /// The longest time that protobuf's `Duration` holds: about 10,000 years.
    static let maxDuration = 315_576_000_000.0

    /// The names that only the engine sets; `data` holds the variables.
    static let ownMessageNames = ["token", "topic", "condition", "fid", "data"]

    /// The keys of `Message`, except those that only the engine sets.
    static let fcmMessage: [ContentKey] = bothSpellings([
        ContentKey("name", .text, "What FCM itself calls the message."),
        ContentKey("notification", .group(commonNotification), "What every platform shows."),
        ContentKey("android", .group(androidConfig), "What is for Android only."),
        ContentKey("android_v2", .object, "What is for Android only, in its newer form."),
        ContentKey("apns", .group(apnsConfig), "What is for APNs only."),
        ContentKey("webpush", .group(webpushConfig), "What is for browsers only."),
        ContentKey("fcm_options", .group(labelOptions), "What FCM's own statistics have."),
    ])

    private static let commonNotification: [ContentKey] = [
        ContentKey("title", .text, "The title."), ContentKey("body", .text, "The message itself."),
        ContentKey("image", .text, "The address of an image."),
    ]

    private static let labelOptions = bothSpellings([
        ContentKey("analytics_label", .label, "The label of FCM's own statistics.")
    ])

    private static let androidConfig = bothSpellings([
        ContentKey("collapse_key", .text, "What makes a later message replace an earlier one that waits."),
        ContentKey("priority", .word(["NORMAL", "HIGH"]), "Whether it may wake the device."),
        ContentKey("ttl", .duration(maxTTL), "How long FCM keeps it for a device that is off."),
        ContentKey("restricted_package_name", .packageName, "The only app that may get it."),
        ContentKey("notification", .group(androidNotification), "What Android shows."),
        ContentKey("fcm_options", .group(labelOptions), "What FCM's own statistics have."),
        ContentKey("direct_boot_ok", .boolean, "Whether it may arrive before the device is first unlocked."),
        ContentKey("bandwidth_constrained_ok", .boolean, "Whether it may arrive over a narrow network."),
        ContentKey("restricted_satellite_ok", .boolean, "Whether it may arrive over a restricted satellite network."),
    ])

    /// The keys of the content's own table, in FCM's forms.
    private static let androidNotification = bothSpellings(
        notification.map { key in
            let kind: Kind =
                switch key.name {
                case "visibility": .word(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"])
                case "proxy": .word(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"])
                case "notification_priority":
                    .word(["UNSPECIFIED", "MIN", "LOW", "DEFAULT", "HIGH", "MAX"].map { "PRIORITY_" + $0 })
                case "vibrate_timings": .durations
                case "light_settings": .group(lightSettings)
                default: key.kind
                }
            return ContentKey(key.name, kind, key.summary)
        }
    )

    private static let lightSettings = bothSpellings([
        ContentKey("color", .group(colorParts), "The color, as parts of one."),
        ContentKey("light_on_duration", .duration(maxDuration), "How long it is on."),
        ContentKey("light_off_duration", .duration(maxDuration), "How long it is off."),
    ])

    private static let colorParts = ["red", "green", "blue", "alpha"].map { part in
        ContentKey(part, .number(0...1), "How much of it there is, from 0 to 1.")
    }

    private static let apnsConfig = bothSpellings([
        ContentKey("headers", .strings, "The headers of the request to APNs."),
        ContentKey("payload", .object, "The payload for APNs."),
        ContentKey(
            "fcm_options",
            .group(labelOptions + [ContentKey("image", .text, "The address of an image.")]),
            "What FCM does with it."
        ),
        ContentKey("live_activity_token", .text, "The token of a Live Activity."),
    ])

    private static let webpushConfig = bothSpellings([
        ContentKey("headers", .strings, "The headers of the request to the browser's push service."),
        ContentKey("data", .strings, "The data for browsers."),
        ContentKey("notification", .object, "What the browser shows."),
        ContentKey(
            "fcm_options",
            .group(labelOptions + [ContentKey("link", .text, "The address to open.")]),
            "What FCM does with it."
        ),
    ])

    /// The keys under their own names and in camel case: FCM accepts both (protobuf, JSON mapping of field names).
    private static func bothSpellings(_ keys: [ContentKey]) -> [ContentKey] {
        keys.flatMap { key -> [ContentKey] in
            let words = key.name.split(separator: "_")
            guard words.count > 1 else { return [key] }
            let camel = words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            return [key, ContentKey(String(camel), key.kind, key.summary)]
        }
    }
}
