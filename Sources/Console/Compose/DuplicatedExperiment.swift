import Content
import PushCore
import Store

/// The experiment of a delivery that is duplicated, as values of a draft.
struct DuplicatedExperiment: Sendable {
    /// A variant; without a content it is the delivery itself.
    private struct Variant {
        let percent: String
        let content: String?
    }

    private let variants: [Variant]
    /// The values that are no variant's, by their names in a draft.
    private let rule: [String: String]

    /// The experiment in the settings of a duplicated delivery; nil if it is none.
    init?(settings: String) {
        guard case .object(let all)? = try? JSONValue(parsing: settings.utf8),
            case .object(let entries)? = all.first(where: { $0.name == "experiment" })?.value
        else { return nil }
        func member(_ name: String, of entries: [JSONEntry]) -> JSONValue? {
            entries.first { $0.name == name }?.value
        }
        func text(_ name: String, of entries: [JSONEntry]) -> String? {
            switch member(name, of: entries) {
            case .string(let text)?: text
            case .number(let digits)?: Double(digits).map(RateNumber.text)
            case .null?, .boolean?, .array?, .object?, nil: nil
            }
        }
        guard case .array(let elements)? = member("variants", of: entries) else { return nil }
        variants = elements.compactMap { element in
            guard case .object(let entries) = element, let percent = text("percent", of: entries) else { return nil }
            return Variant(percent: percent, content: member("content", of: entries)?.compactText)
        }
        typealias Name = ExperimentForm.Name
        var rule: [String: String] = [:]
        rule[Name.metric] = text("metric", of: entries)
        rule[Name.sample] = text("least_sample", of: entries)
        rule[Name.certainty] = text("certainty_percent", of: entries)
        rule[Name.undecided] = text("if_undecided", of: entries)
        rule[Name.holdOut] = text("hold_out_percent", of: entries).flatMap { $0 == "0" ? nil : $0 }
        rule[Name.hours] = text("decide_after_seconds", of: entries)
            .flatMap { Double($0) }.map { RateNumber.text($0 / 3_600) }
        if member("early", of: entries) == .boolean(false) { rule[Name.early] = ExperimentForm.no }
        self.rule = rule
    }

    /// The values of a draft with the delivery's content; nil if a variant changes more than the texts that a draft can
    /// change.
    func fields(of content: String, _ platforms: Set<Platform>) -> [String: String]? {
        let own = ContentForm.values(json: content)
        let names = (own[ContentForm.locales] ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
        let locales = [nil] + names.map(Optional.some)
        var fields = rule
        for (place, variant) in variants.enumerated() {
            let number = place + 1
            fields[ExperimentForm.Name.percent(number)] = variant.percent
            guard let content = variant.content else { continue }
            let other = ContentForm.values(json: content)
            var changed = own
            for locale in locales {
                let path = locale.map { "locales.\($0)." } ?? ""
                for (key, _) in ExperimentForm.texts {
                    let paths = platforms.map { "\(path)\($0.rawValue).\(key)" }
                    guard let text = paths.compactMap({ other[$0] }).first, paths.contains(where: { own[$0] != text })
                    else { continue }
                    for path in paths { changed[path] = text }
                    fields[ExperimentForm.Name.text(number, key, locale)] = text
                }
            }
            // The first variant of a draft is its content.
            guard changed == other, number > 1 || changed == own else { return nil }
        }
        return fields
    }
}
