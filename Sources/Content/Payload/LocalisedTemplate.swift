import PushCore

/// A delivery's payload for one application in all locales that its content speaks.
///
/// All templates have one list of fields, so a part is loaded once, and each message is rendered by the template of its locale.
public struct LocalisedTemplate: Sendable {
    /// The templates; the first one is that of the content without a locale, for everyone whom no other one fits.
    public let templates: [PayloadTemplate]
    /// The locale of each template, as the content writes it; empty for the first one.
    public let locales: [String]
    /// The fields of all templates, distinct by name.
    public let fields: [PersonalisationField]

    private let matcher: LocaleMatcher

    /// Whether there is more than the one template.
    public var isLocalised: Bool { templates.count > 1 }

    /// Compiles a content for a gateway, as
    /// ``PayloadTemplate/compile(content:format:deliveryID:messageIDFormat:messageNumbers:locale:carriesValidity:)`` does for one
    /// locale; throws the problems of all locales at once.
    public static func compile(
        content: PushContent,
        format: PayloadFormat,
        deliveryID: Int64,
        messageIDFormat: MessageIDFormat,
        messageNumbers: MessageNumbers? = nil,
        carriesValidity: Bool = false
    ) throws(ContentError) -> LocalisedTemplate {
        let variants = content.variants(for: format.platform)
        guard !variants.isEmpty else { throw ContentError.noSection(for: format.platform) }
        let ids = MessageIDSource(deliveryID: deliveryID, format: messageIDFormat, numbers: messageNumbers)
        var templates: [PayloadTemplate] = []
        var fields: [PersonalisationField] = []
        var problems: [ContentProblem] = []
        for variant in variants {
            do throws(ContentError) {
                let template = try PayloadTemplate(
                    variant,
                    content: content,
                    format: format,
                    ids: ids,
                    fields: fields,
                    carriesValidity: carriesValidity
                )
                fields = template.fields
                templates.append(template)
            } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw ContentError(problems: problems) }
        for index in templates.indices { templates[index].fields = fields }
        return LocalisedTemplate(templates: templates, locales: variants.map(\.locale), fields: fields)
    }

    private init(templates: [PayloadTemplate], locales: [String], fields: [PersonalisationField]) {
        self.templates = templates
        self.locales = locales
        self.fields = fields
        matcher = LocaleMatcher(locales)
    }

    /// The index of the template for a subscription's locale, such as `fr-CA`, `fr_CA` or `zh-Hans-CN`.
    ///
    /// It is the one of the same locale, else that of the locale with tags cut from its end (`fr-CA`, then `fr`),
    /// else the first one. Letter case does not matter, nor which of its forms a locale has (``LocaleTag``). It allocates nothing for
    /// a locale as it is stored, so it can be asked for every message.
    public func index(locale: ArraySlice<UInt8>) -> Int {
        matcher.index(of: locale)
    }
}

/// Finds the best of several locales (RFC 4647, "Lookup").
struct LocaleMatcher: Sendable {
    /// No locale is longer; what is longer is none.
    static let longestLocale = 64

    /// The locales in small letters with hyphens, in their order.
    private let locales: [[UInt8]]

    init(_ locales: [String]) {
        self.locales = locales.map(Self.normalised)
    }

    /// The index of the locale that fits best; 0 when none does.
    func index(of locale: ArraySlice<UInt8>) -> Int {
        guard locales.count > 1, locale.count <= Self.longestLocale else { return 0 }
        guard LocaleTag.mayChange(locale) else { return lookUp(locale) }
        return lookUp(Array(LocaleTag.canonical(String(decoding: locale, as: UTF8.self)).utf8)[...])
    }

    private func lookUp(_ locale: ArraySlice<UInt8>) -> Int {
        var rest = locale
        while !rest.isEmpty {
            for (index, candidate) in locales.enumerated() where Self.isSame(candidate, rest) { return index }
            guard let separator = rest.lastIndex(where: { Self.isSeparator($0) }) else { return 0 }
            rest = rest[..<separator]
        }
        return 0
    }

    /// A locale as it is compared: in its one form, in small letters.
    static func normalised(_ locale: String) -> [UInt8] {
        LocaleTag.canonical(locale).utf8.map(normalised)
    }

    private static func isSame(_ candidate: [UInt8], _ locale: ArraySlice<UInt8>) -> Bool {
        guard candidate.count == locale.count else { return false }
        var index = locale.startIndex
        for byte in candidate {
            if normalised(locale[index]) != byte { return false }
            index += 1
        }
        return true
    }

    private static func normalised(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "_"): UInt8(ascii: "-")
        default: byte
        }
    }

    /// Android writes scripts as `zh-CN-#Hans`, POSIX systems encodings as `fr_FR.UTF-8` and `@euro`.
    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: "#"): true
        default: false
        }
    }
}
