extension ContentKey {
    /// The keys of a platform's section.
    static func keys(_ platform: Platform) -> [ContentKey] {
        switch platform {
        case .ios: ios
        case .android: android
        }
    }

    /// Messages must not outlive the year: a longer time is a mistake of unit (milliseconds for seconds).
    private static let longestExpiration: Int64 = 365 * 24 * 3600
    /// Four weeks, FCM's own limit (FCM v1, `AndroidConfig.ttl`).
    private static let longestTimeToLive: Int64 = 2_419_200
    /// The push types whose payload these keys can express.
    static let pushTypes: [PushType] = [
        .alert, .background, .location, .voip, .complication, .fileprovider, .pushtotalk,
    ]

    private static let ios: [ContentKey] = [
        ContentKey("title", .text), ContentKey("subtitle", .text), ContentKey("body", .text),
        ContentKey("launch_image", .text),
        ContentKey("badge", .integer(0...Int64(Int32.max))), ContentKey("sound", .text),
        ContentKey("category", .text), ContentKey("thread_id", .text), ContentKey("target_content_id", .text),
        ContentKey("mutable_content", .boolean), ContentKey("content_available", .boolean),
        ContentKey("interruption_level", .choice(["passive", "active", "time-sensitive", "critical"])),
        ContentKey("relevance_score", .number(0...1)),
        ContentKey("variables", .variables),
        ContentKey("priority", .integerChoice([10, 5, 1])),
        ContentKey("expiration_seconds", .integer(0...longestExpiration)),
        ContentKey("collapse_id", .text),
        ContentKey("push_type", .choice(pushTypes.map(\.rawValue))),
    ]

    private static let android: [ContentKey] = [
        ContentKey("title", .text), ContentKey("body", .text), ContentKey("channel_id", .text),
        ContentKey("icon", .text), ContentKey("sound", .text), ContentKey("tag", .text), ContentKey("color", .text),
        ContentKey("click_action", .text), ContentKey("image", .text),
        ContentKey("variables", .variables),
        ContentKey("ttl_seconds", .integer(0...longestTimeToLive)),
        ContentKey("priority", .choice(["normal", "high"])),
        ContentKey("collapse_key", .text),
    ]
}
