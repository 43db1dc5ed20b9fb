extension ContentKey {
    /// Four weeks, FCM's own limit (FCM v1, `AndroidConfig.ttl`).
    private static let longestTimeToLive: Int64 = 2_419_200

    /// The keys of the section `android`.
    static let android: [ContentKey] = kind + notification + behaviour + request

    /// The keys of FCM's object `notification`, in its order there (FCM v1, `AndroidNotification`).
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

    /// The keys of `notification` that the legacy protocol knows, with its names (FCM legacy HTTP, "Notification payload support").
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
            .personalisedInteger(0...longestTimeToLive),
            "How long FCM keeps it for a device that is off; 0 is one attempt."
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
