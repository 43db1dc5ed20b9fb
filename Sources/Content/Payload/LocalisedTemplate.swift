import PushCore

/// A delivery's payload for one application in all locales of its content.
///
/// All templates share one list of fields. So a part is loaded once, and each message is rendered with the template of
/// its locale.
package struct LocalisedTemplate: Sendable {
    /// The templates. The first one, for the content without a locale, serves everyone that no other one matches.
    package let templates: [PayloadTemplate]
    /// The locale of each template, as the content writes it; empty for the first one.
    package let locales: [String]
    /// The fields of all templates, distinct by name.
    package let fields: [PersonalisationField]

    private let matcher: LocaleMatcher

    /// Whether there is more than one template.
    package var isLocalised: Bool { templates.count > 1 }

    /// Compiles a content for a gateway, as
    /// ``PayloadTemplate/compile(content:format:deliveryID:messageIDFormat:messageNumbers:locale:carriesValidity:)``
    /// does for one locale; throws all problems of all locales.
    package static func compile(
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
    /// It is the template of that locale, otherwise of the locale with tags removed from its end (`fr-CA`, then `fr`),
    /// otherwise the first one. Letter case does not matter, nor which of its forms a locale has (``LocaleTag``). For a
    /// locale in its stored form nothing is allocated, so it can be called for every message.
    package func index(locale: ArraySlice<UInt8>) -> Int {
        matcher.index(of: locale)
    }
}
