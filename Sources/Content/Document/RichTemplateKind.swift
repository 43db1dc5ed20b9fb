import PushCore

/// The rich templates of the Adobe Experience Platform SDK, by their names in the content.
enum RichTemplateKind: String, Sendable, CaseIterable {
    case basic
    case carousel
    case timer
    case inputBox = "input_box"
    case iconButtons = "icon_buttons"
    case productCatalog = "product_catalog"
    case rating
    case zeroBezel = "zero_bezel"

    /// The value of `adb_template_type`.
    var payloadName: String {
        switch self {
        case .basic: "basic"
        case .carousel: "car"
        case .timer: "timer"
        case .inputBox: "input"
        case .iconButtons: "icon"
        case .productCatalog: "cat"
        case .rating: "rate"
        case .zeroBezel: "zb"
        }
    }

    /// The category that tells the app's notification content extension to show a template.
    static let category = "AEPNotification"

    /// The templates of a platform.
    static func all(_ platform: Platform) -> [RichTemplateKind] {
        platform == .ios ? [.basic, .carousel, .timer] : allCases
    }

    /// The payload version if the content does not set one.
    static func version(_ platform: Platform) -> String {
        platform == .ios ? "1.0" : "1"
    }

    /// The name of the key with the template's type.
    static let typeName = "type"

    /// The key with the type, one of the platform's templates.
    static func key(_ platform: Platform) -> ContentKey {
        ContentKey(typeName, .choice(all(platform).map(\.rawValue)), "Which template it is.", isRequired: true)
    }

    /// Whether the SDK needs a title and a body to show it.
    var needsTitleAndBody: Bool { self != .iconButtons }

    /// The keys of the template on a platform, `type` not included.
    func keys(_ platform: Platform) -> [ContentKey] {
        switch platform {
        case .ios: iosKeys
        case .android: androidKeys
        }
    }
}

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

extension ContentValidator {
    /// Checks a rich template's own keys.
    mutating func checkTemplate(_ entries: [JSONEntry], _ path: String, _ platform: Platform) {
        let template = ContentSection(platform: platform, entries: entries)
        let kinds = RichTemplateKind.all(platform)
        guard let word = template.string("type"), let kind = RichTemplateKind(rawValue: word), kinds.contains(kind)
        else {
            add(
                "\(path).type",
                template["type"] == nil ? "it is missing" : "\(platform.rawValue) has no such template",
                "write \(Self.list(kinds.map(\.rawValue)))"
            )
            return
        }
        check(entries, keys: [RichTemplateKind.key(platform)] + kind.keys(platform), path, platform)
        if kind == .timer, !template.hasAny(["timer_seconds", "timer_end"]) {
            add("\(path).timer_seconds", "the timer has no end", "write timer_seconds or timer_end")
        }
        let remindsLater = template.hasAny(["remind_at", "remind_seconds"])
        if template.has("remind_text") != remindsLater {
            let missing = remindsLater ? "remind_text" : "remind_at"
            add(
                "\(path).\(missing)",
                "the reminder needs a label and a time",
                "write remind_text and remind_at or remind_seconds"
            )
        }
        if remindsLater, template.list("buttons").count > 2 {
            add("\(path).buttons", "the reminder is a button too, which makes more than three", "write at most two")
        }
    }

    /// Checks what a rich template requires of its section.
    mutating func checkRichTemplate(_ section: ContentSection, _ path: String) {
        guard let kind = section.templateKind, let template = section.group("template") else { return }
        if kind.needsTitleAndBody {
            for (key, locKey) in [("title", "title_loc_key"), ("body", "loc_key")]
            where !section.has(key) && !(section.platform == .ios && section.has(locKey)) {
                add("\(path).\(key)", "a rich template without it is not shown", "write it")
            }
        }
        guard section.platform == .android else { return }
        if let link = template.string("link_type"), ["WEBURL", "DEEPLINK"].contains(link), !section.has("click_action")
        {
            add("\(path).click_action", "the template's link_type is \(link), and there is no address", "write it")
        }
        if let link = section.text("click_action"), !link.isLiteral, !template.has("link_type") {
            add(
                "\(path).template.link_type",
                "click_action has fields, so its type is unknown",
                "write WEBURL or DEEPLINK"
            )
        }
    }

    /// Checks that a link whose type opens an address has one.
    mutating func checkLink(_ item: ContentSection, link: String, type: String, _ path: String) {
        guard let word = item.string(type), ["WEBURL", "DEEPLINK"].contains(word), !item.has(link) else { return }
        add("\(path).\(link)", "its type is \(word), and there is no address", "write it")
    }
}
