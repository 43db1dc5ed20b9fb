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

    /// A draft that says the same as the delivery: its content, and the values of its experiment; nil if a variant
    /// changes more than the texts that a draft can change.
    ///
    /// - Parameters:
    ///   - content: that of the delivery.
    ///   - platforms: those of its applications.
    func draft(of content: String, _ platforms: Set<Platform>) -> (content: String, fields: [String: String])? {
        // The first variant of a draft is its content.
        let first = variants.first?.content ?? content
        let own = ContentForm.values(json: first)
        var fields = rule
        for (place, variant) in variants.enumerated() {
            let number = place + 1
            fields[ExperimentForm.Name.percent(number)] = variant.percent
            guard place > 0 else { continue }
            let other = ContentForm.values(json: variant.content ?? content)
            guard let texts = Self.texts(number, own, other, platforms) else { return nil }
            fields.merge(texts) { _, text in text }
        }
        return (first, fields)
    }

    /// The texts that make a variant of a draft's content, by their names in the draft: the reverse of what
    /// ``ExperimentForm`` does. Nil if there are none.
    private static func texts(
        _ number: Int,
        _ own: [String: String],
        _ other: [String: String],
        _ platforms: Set<Platform>
    ) -> [String: String]? {
        var changed = own
        var texts: [String: String] = [:]
        for locale in [nil] + ContentForm(values: own, platforms: []).localeNames.map(Optional.some) {
            let path = locale.map { "locales.\($0)." } ?? ""
            for (key, _) in ExperimentForm.texts {
                let names = platforms.map { "\(path)\($0.rawValue).\(key)" }
                // A text that is empty in the draft is that of its content, which each platform may say differently.
                guard names.contains(where: { own[$0] != other[$0] }) else { continue }
                let said = Set(names.map { other[$0] ?? "" })
                guard said.count == 1, let text = said.first, !text.isEmpty else { return nil }
                for name in names { changed[name] = text }
                texts[ExperimentForm.Name.text(number, key, locale)] = text
            }
        }
        return changed == other ? texts : nil
    }
}
