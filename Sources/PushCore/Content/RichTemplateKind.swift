/// The rich templates of the Adobe Experience Platform SDK, by the names that the content gives them.
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

    /// The category by which the app's notification content extension knows that a template is to be shown.
    static let category = "AEPNotification"

    /// The templates of a platform.
    static func all(_ platform: Platform) -> [RichTemplateKind] {
        platform == .ios ? [.basic, .carousel, .timer] : allCases
    }

    /// The version of the payload when the content names none.
    static func version(_ platform: Platform) -> String {
        platform == .ios ? "1.0" : "1"
    }

    /// Whether the SDK shows nothing without title and body.
    var needsTitleAndBody: Bool { self != .iconButtons }

    /// The keys of the template on a platform, `type` not included.
    func keys(_ platform: Platform) -> [ContentKey] {
        switch platform {
        case .ios: iosKeys
        case .android: androidKeys
        }
    }
}
