import Content
import PushCore
import Store

/// What a delivery says, as phones show it: each variant of an experiment in each locale, on each platform. A field has
/// its default, as for a person without a value, or stands for itself.
struct DeliveryContentView {
    /// The content, JSON.
    let content: String
    /// Empty if it is no experiment.
    let variants: [ExperimentVariantRow]
    /// The applications that it goes to.
    let applications: [ApplicationRow]
    /// The connectors of external accounts, by id.
    let connectors: [Int32: Connector]
    let icons: ApplicationIcons
    let catalogue: Catalogue

    /// More is not read on one page.
    private static let maxTexts = 24

    /// A text: what it says to the readers of a locale.
    private struct Said {
        let name: String
        var phones: [PageValues] = []
    }

    /// Empty if no application understands the content.
    var values: PageValues {
        let texts = self.texts
        guard let first = texts.first else { return [:] }
        let isOnly = texts.count == 1
        return [
            "content": .group([
                "firstName": .text(isOnly ? "" : first.name), "hasName": .flag(!isOnly), "phones": .list(first.phones),
                "others": .list(texts.dropFirst().map { ["textName": .text($0.name), "phones": .list($0.phones)] }),
            ])
        ]
    }

    private var texts: [Said] {
        let contents =
            variants.isEmpty
            ? [(label: "", json: content)]
            : variants.filter { !$0.isRest }.map { (label: $0.label, json: $0.content ?? content) }
        var texts: [Said] = []
        for (place, variant) in contents.enumerated() {
            var said: [String: Said] = [:]
            var locales: [String] = []
            let templates = self.templates(variant.json)
            let isLocalised = templates.contains { $0.template.isLocalised }
            for (application, template) in templates {
                for locale in template.locales {
                    if said[locale] == nil {
                        guard texts.count + locales.count < Self.maxTexts else { continue }
                        locales.append(locale)
                        said[locale] = Said(name: name(variant.label, locale, isLocalised: isLocalised))
                    }
                    let id = "\(application.platform.rawValue)-\(place)-\(locales.firstIndex(of: locale) ?? 0)"
                    said[locale]?.phones.append(phone(application, template, locale, id: id))
                }
            }
            texts += locales.compactMap { said[$0] }
        }
        return texts
    }

    /// The message of the first application of each platform: those of one platform differ only in what applications
    /// declare.
    private func templates(_ json: String) -> [(application: ApplicationRow, template: LocalisedTemplate)] {
        Platform.allCases.compactMap { platform in
            for application in applications where application.platform == platform {
                let connector = application.accountID.flatMap { connectors[$0] }
                if let template = try? application.template(of: json, over: connector) {
                    return (application, template)
                }
            }
            return nil
        }
    }

    private func name(_ variant: String, _ locale: String, isLocalised: Bool) -> String {
        let label = variant.isEmpty ? "" : "\(catalogue[.columnVariant]) \(variant)"
        let readers = locale.isEmpty && isLocalised ? catalogue[.localeEverybody] : locale
        return [label, readers].filter { !$0.isEmpty }.joined(separator: " · ")
    }

    private func phone(_ application: ApplicationRow, _ template: LocalisedTemplate, _ locale: String, id: String)
        -> PageValues
    {
        let stand = template.fields.filter { $0.defaultValue == nil }.map { ($0.name, "{{\($0.name)}}") }
        let fields = Dictionary(stand) { first, _ in first }
        let sample = template.sample(values: fields, locale: locale)
        let message = PhoneMessage(sample.payload, application.platform)
        let app = application.label.isEmpty ? application.name : application.label
        var values: PageValues = [
            "app": .text(app), "letter": .text(String(app.prefix(1)).uppercased()), "phoneID": .text(id),
            "messageTitle": .text(message.title), "hasTitle": .flag(!message.title.isEmpty),
            "subtitle": .text(message.subtitle), "hasSubtitle": .flag(!message.subtitle.isEmpty),
            "body": .text(message.body), "image": .text(message.image), "hasImage": .flag(!message.image.isEmpty),
            "badge": .text(message.badge), "hasBadge": .flag(!message.badge.isEmpty && message.badge != "0"),
            "category": .text(message.category), "hasCategory": .flag(!message.category.isEmpty),
            "link": .text(message.link), "hasLink": .flag(!message.link.isEmpty), "isShown": .flag(message.isShown),
            // The values of people decide what is too long or left out.
            "isLeftOut": .flag(false), "isTooLong": .flag(false), "size": .text(Figures.count(Int64(sample.size))),
            "limit": .text(Figures.count(Int64(sample.limit))), "payload": .text(sample.payload.compactText),
        ]
        if template.isLocalised {
            values["variant"] = .text(locale.isEmpty ? catalogue[.localeEverybody] : locale)
        }
        icons.add(to: &values, application.name)
        return [application.platform.rawValue: .group(values)]
    }
}
