extension RichTemplateKind {
    private static let linkType = ContentKey.Kind.choice(["WEBURL", "DEEPLINK", "OPENAPP", "DISMISS", "NONE"])

    private static let version = ContentKey("version", .text, "The version of the payload.", payload: "adb_version")

    private static let colors: [ContentKey] = [
        ContentKey("title_color", .color, "The color of the title.", payload: "adb_clr_title"),
        ContentKey("body_color", .color, "The color of the message.", payload: "adb_clr_body"),
        ContentKey("background_color", .color, "The color of the background.", payload: "adb_clr_bg"),
    ]

    private static let expandedBody =
        ContentKey("expanded_body", .text, "The message when it is unfolded.", payload: "adb_body_ex")

    private static let carouselKeys: [ContentKey] = [
        ContentKey(
            "mode",
            .choice(["auto", "manual"]),
            "Whether the images change by themselves.",
            payload: "adb_car_mode"
        ),
        ContentKey("layout", .choice(["default", "filmstrip"]), "How the images stand.", payload: "adb_car_layout"),
    ]

    private static let carouselItem: [ContentKey] = [
        ContentKey("image", .text, "The address of the image.", payload: "img", isRequired: true),
        ContentKey("text", .text, "Its caption.", payload: "txt"),
        ContentKey("uri", .text, "What a click on it opens.", payload: "uri"),
    ]

    private static func items(_ keys: [ContentKey], _ count: ClosedRange<Int>, _ summary: String) -> ContentKey {
        ContentKey("items", .items(keys, count), summary, payload: "adb_items", isRequired: true)
    }

    private static let timerKeys: [ContentKey] = [
        ContentKey("alternate_body", .text, "The message after the time is up.", payload: "adb_body_alt"),
        ContentKey(
            "timer_seconds",
            .personalisedInteger(1...Int64(Int32.max)),
            "How many seconds the timer runs; goes before timer_end.",
            payload: "adb_tmr_dur"
        ),
        ContentKey(
            "timer_end",
            .personalisedInteger(1...Int64(Int32.max) * 2),
            "When the time is up, in seconds since 1970.",
            payload: "adb_tmr_end"
        ),
        ContentKey("timer_color", .color, "The color of the timer.", payload: "adb_clr_tmr"),
    ]

    var iosKeys: [ContentKey] {
        let common =
            [
                Self.version,
                ContentKey("expanded_title", .text, "The title when it is unfolded.", payload: "adb_title_ex"),
            ]
            + Self.colors
        switch self {
        case .basic: return common + [Self.expandedBody]
        case .carousel:
            return common + Self.carouselKeys + [Self.items(Self.carouselItem, 2...5, "The images.")]
        case .timer:
            return common + [
                Self.expandedBody,
                ContentKey("alternate_title", .text, "The title after the time is up.", payload: "adb_title_alt"),
                ContentKey("alternate_image", .text, "The image after the time is up.", payload: "adb_media_alt"),
            ] + Self.timerKeys
        case .inputBox, .iconButtons, .productCatalog, .rating, .zeroBezel: return []
        }
    }

    var androidKeys: [ContentKey] {
        let common =
            [Self.version, Self.expandedBody] + Self.colors + [
                ContentKey("small_icon", .text, "The name of the small icon in the app.", payload: "adb_small_icon"),
                ContentKey("large_icon", .text, "The address or name of the large icon.", payload: "adb_large_icon"),
                ContentKey("link_type", Self.linkType, "What click_action is.", payload: "adb_a_type"),
            ]
        switch self {
        case .basic: return common + [Self.buttons] + Self.reminder
        case .carousel:
            return common + Self.carouselKeys + [Self.items(Self.carouselItem, 3...5, "The images.")]
        case .timer:
            return common + [
                ContentKey(
                    "alternate_title",
                    .text,
                    "The title after the time is up.",
                    payload: "adb_title_alt",
                    isRequired: true
                ),
                ContentKey(
                    "alternate_expanded_body",
                    .text,
                    "The message after the time is up, when it is unfolded.",
                    payload: "adb_body_ex_alt"
                ),
                ContentKey("alternate_image", .text, "The image after the time is up.", payload: "adb_image_alt"),
            ] + Self.timerKeys
        case .inputBox: return common + [Self.buttons] + Self.input
        case .iconButtons:
            return [Self.version, Self.background] + [
                Self.items(Self.iconItem, 3...5, "The buttons."),
                ContentKey(
                    "cancel_image",
                    .text,
                    "The image of the button that closes it.",
                    payload: "adb_cancel_image"
                ),
            ]
        case .productCatalog:
            return common + Self.catalog + [Self.items(Self.catalogItem, 3...3, "The products.")]
        case .rating: return common + Self.ratingKeys
        case .zeroBezel:
            return common + [
                ContentKey(
                    "collapsed_style",
                    .choice(["img", "txt"]),
                    "What is shown of it before it is unfolded.",
                    payload: "adb_col_style"
                )
            ]
        }
    }
}

extension RichTemplateKind {
    private static let background =
        ContentKey("background_color", .color, "The color of the background.", payload: "adb_clr_bg")

    private static let buttons = ContentKey(
        "buttons",
        .items(
            [
                ContentKey("label", .text, "Its label.", payload: "label", isRequired: true),
                ContentKey("uri", .text, "What it opens.", payload: "uri"),
                ContentKey("type", linkType, "What uri is.", payload: "type", isRequired: true),
            ],
            1...3
        ),
        "Buttons below the message.",
        payload: "adb_act"
    )

    private static let reminder: [ContentKey] = [
        ContentKey("remind_text", .text, "The label of a button that brings it again later.", payload: "adb_rem_txt"),
        ContentKey(
            "remind_at",
            .personalisedInteger(1...Int64(Int32.max) * 2),
            "When that is, in seconds since 1970.",
            payload: "adb_rem_ts"
        ),
        ContentKey(
            "remind_seconds",
            .personalisedInteger(1...Int64(Int32.max)),
            "After how many seconds that is.",
            payload: "adb_rem_sec"
        ),
    ]

    private static let input: [ContentKey] = [
        ContentKey(
            "receiver",
            .text,
            "The name of the intent by which the app gets the answer.",
            payload: "adb_input_receiver",
            isRequired: true
        ),
        ContentKey("hint", .text, "What stands in the box before something is written.", payload: "adb_input_txt"),
        ContentKey("feedback_text", .text, "The message after the answer.", payload: "adb_feedback_txt"),
        ContentKey("feedback_image", .text, "The image after the answer.", payload: "adb_feedback_img"),
    ]

    private static let iconItem: [ContentKey] = [
        ContentKey("image", .text, "Its image.", payload: "img", isRequired: true),
        ContentKey("uri", .text, "What it opens.", payload: "uri"),
        ContentKey("type", linkType, "What uri is.", payload: "type", isRequired: true),
    ]

    private static let catalog: [ContentKey] = [
        ContentKey("cta_text", .text, "The label of the button.", payload: "adb_cta_txt", isRequired: true),
        ContentKey("cta_uri", .text, "What the button opens.", payload: "adb_cta_uri", isRequired: true),
        ContentKey("cta_color", .color, "The color of the button.", payload: "adb_cta_clr", isRequired: true),
        ContentKey(
            "cta_text_color",
            .color,
            "The color of the button's label.",
            payload: "adb_cta_txt_clr",
            isRequired: true
        ),
        ContentKey(
            "display",
            .choice(["horizontal", "vertical"]),
            "How the products stand.",
            payload: "adb_display",
            isRequired: true
        ),
    ]

    private static let catalogItem: [ContentKey] = [
        ContentKey("title", .text, "The product.", payload: "title", isRequired: true),
        ContentKey("body", .text, "What it is.", payload: "body", isRequired: true),
        ContentKey("image", .text, "Its image.", payload: "img", isRequired: true),
        ContentKey("price", .text, "Its price.", payload: "price", isRequired: true),
        ContentKey("uri", .text, "What a click on it opens.", payload: "uri", isRequired: true),
    ]

    private static let ratingKeys: [ContentKey] = [
        ContentKey(
            "unselected_icon",
            .text,
            "The icon of a rating that is not chosen.",
            payload: "adb_rate_unselected_icon",
            isRequired: true
        ),
        ContentKey(
            "selected_icon",
            .text,
            "The icon of the rating that is chosen.",
            payload: "adb_rate_selected_icon",
            isRequired: true
        ),
        ContentKey(
            "actions",
            .items(
                [
                    ContentKey("uri", .text, "What the rating opens.", payload: "uri"),
                    ContentKey("type", linkType, "What uri is.", payload: "type", isRequired: true),
                ],
                3...5
            ),
            "One for each rating, the lowest first.",
            payload: "adb_rate_act",
            isRequired: true
        ),
    ]
}
