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
    /// ``PayloadTemplate/compile(content:format:deliveryID:messageIDFormat:messageNumbers:locale:)`` does for one
    /// locale; throws the problems of all locales at once.
    public static func compile(
        content: PushContent,
        format: PayloadFormat,
        deliveryID: Int64,
        messageIDFormat: MessageIDFormat,
        messageNumbers: MessageNumbers? = nil
    ) throws(ContentError) -> LocalisedTemplate {
        let variants = content.variants(for: format.platform)
        guard !variants.isEmpty else { throw ContentError.noSection(for: format.platform) }
        let ids = MessageIDSource(deliveryID: deliveryID, format: messageIDFormat, numbers: messageNumbers)
        var templates: [PayloadTemplate] = []
        var fields: [PersonalisationField] = []
        var problems: [ContentProblem] = []
        for variant in variants {
            do throws(ContentError) {
                let template = try PayloadTemplate(variant, content: content, format: format, ids: ids, fields: fields)
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
    /// else the first one. Letter case does not matter. It allocates nothing, so it can be asked for every message.
    public func index(locale: ArraySlice<UInt8>) -> Int {
        matcher.index(of: locale)
    }
}
