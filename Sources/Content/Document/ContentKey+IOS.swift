import PushCore

extension ContentKey {
    /// A year, in seconds. A longer time is probably a wrong unit (milliseconds instead of seconds).
    private static let maxExpiration: Int64 = 365 * 24 * 3600
    /// The maximum of a badge is not documented; iOS reads it as a 32-bit number.
    private static let maxBadge = Int64(Int32.max)

    /// The keys of the section `ios`.
    static let ios: [ContentKey] = alert + presentation + behaviour + request

    private static let alert: [ContentKey] = [
        ContentKey("title", .text, "The title.", payload: "title"),
        ContentKey("title_loc_key", .text, "The key of the title in the app's own texts.", payload: "title-loc-key"),
        ContentKey(
            "title_loc_args",
            .texts,
            "What stands for the placeholders of that text.",
            payload: "title-loc-args"
        ),
        ContentKey("subtitle", .text, "The line below the title.", payload: "subtitle"),
        ContentKey(
            "subtitle_loc_key",
            .text,
            "The key of the subtitle in the app's own texts.",
            payload: "subtitle-loc-key"
        ),
        ContentKey(
            "subtitle_loc_args",
            .texts,
            "What stands for the placeholders of that text.",
            payload: "subtitle-loc-args"
        ),
        ContentKey("body", .text, "The message itself.", payload: "body"),
        ContentKey("loc_key", .text, "The key of the message in the app's own texts.", payload: "loc-key"),
        ContentKey("loc_args", .texts, "What stands for the placeholders of that text.", payload: "loc-args"),
        ContentKey(
            "action_loc_key",
            .text,
            "The key of the action button's label in the app's own texts (before iOS 10).",
            payload: "action-loc-key"
        ),
        ContentKey("launch_image", .text, "The app's image to show while it starts.", payload: "launch-image"),
    ]

    private static let presentation: [ContentKey] = [
        ContentKey(
            "badge",
            .personalisedInteger(0...maxBadge),
            "The number at the app's icon; 0 removes it, an empty text leaves it as it is."
        ),
        ContentKey("clear_badge", .boolean, "Whether to remove the number at the app's icon."),
        ContentKey("sound", .textOrGroup(sound), "The name of the sound: \"default\", or one of the app's own files."),
        ContentKey("category", .text, "The category, which says which buttons are shown."),
        ContentKey("thread_id", .text, "What groups notifications that belong together.", payload: "thread-id"),
        ContentKey(
            "target_content_id",
            .text,
            "The window of the app to bring forward when it is opened.",
            payload: "target-content-id"
        ),
        ContentKey(
            "mutable_content",
            .boolean,
            "Whether the app's notification service extension gets it first, to load media for example.",
            payload: "mutable-content"
        ),
        ContentKey("content_available", .boolean, "Whether to wake the app.", payload: "content-available"),
        ContentKey(
            "interruption_level",
            .choice(["passive", "active", "time-sensitive", "critical"]),
            "How much it may disturb.",
            payload: "interruption-level"
        ),
        ContentKey(
            "relevance_score",
            .number(0...1),
            "Its place in the notification summary, from 0 to 1.",
            payload: "relevance-score"
        ),
        ContentKey(
            "relevance_percent",
            .integer(0...100),
            "The same from 0 to 100, as Adobe's consoles write it.",
            payload: "relevance-score"
        ),
        ContentKey(
            "filter_criteria",
            .text,
            "What the app's focus filter compares with its own criteria.",
            payload: "filter-criteria"
        ),
    ]

    private static let sound: [ContentKey] = [
        ContentKey(
            "name",
            .text,
            "The name of the sound: \"default\", or one of the app's own files.",
            isRequired: true
        ),
        ContentKey("critical", .boolean, "Whether it sounds even when the device is muted; Apple has to permit it."),
        ContentKey("volume", .integer(0...100), "The volume of a critical sound, from 0 to 100 percent."),
    ]

    private static let behaviour: [ContentKey] = [
        ContentKey("silent", .boolean, "Whether nothing is shown and the app is only woken."),
        ContentKey(
            "media_url",
            .text,
            "The address of an image or a film that the app's extension loads; implies mutable_content.",
            payload: "mediaUrl"
        ),
        ContentKey("click_action", .text, "The address that the app opens on a click.", payload: "adb_uri"),
        ContentKey("variables", .variables(.ios), "The application's own variables, beside `aps` in the payload."),
        ContentKey("template", .template(.ios), "A rich template of the Adobe Experience Platform SDK."),
        ContentKey(
            "aps",
            .object,
            "What is put over the `aps` that the other keys make: for Live Activities, widgets and whatever comes next. A null removes a key."
        ),
    ]

    private static let request: [ContentKey] = [
        ContentKey(
            "priority",
            .integerChoice([10, 5, 1]),
            "10 at once, 5 when it suits the device's battery, 1 without ever waking the device."
        ),
        ContentKey(
            "expiration_seconds",
            .integer(0...maxExpiration),
            "How long APNs keeps it for a device that is off; 0 is one attempt; if unset, as long as the delivery is valid."
        ),
        ContentKey("collapse_id", .text, "What makes a later notification replace an earlier one; at most 64 bytes."),
        ContentKey(
            "push_type",
            .choice(PushType.allCases.map(\.rawValue)),
            "The type of push; without it the content decides. There is no \"mdm\": a device management server sends such pushes with a certificate of its own, and they carry no content."
        ),
    ]
}
