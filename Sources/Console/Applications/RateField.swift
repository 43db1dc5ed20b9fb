import PushCore

/// Messages per second as a form field; empty for no limit.
enum RateField: Equatable {
    case none
    case messagesPerSecond(Double)
    case wrong

    static func field(_ name: String, _ catalogue: Catalogue, _ value: Double? = nil) -> FormField {
        FormField(
            name: name,
            label: catalogue[.fieldRate],
            kind: .text,
            hint: catalogue[.rateHint],
            value: value.map(RateNumber.text) ?? "",
            maxLength: 20
        )
    }

    /// The typed rate.
    static func value(_ text: String) -> RateField {
        if text.isEmpty { return .none }
        return RateNumber.parse(text).map { .messagesPerSecond($0) } ?? .wrong
    }

    /// What is wrong with the typed text.
    static func problem(_ text: String, _ catalogue: Catalogue) -> String {
        let rates = DeliverySetting.rates
        let words = catalogue.text(
            .rateWrong,
            RateNumber.text(rates.lowerBound),
            RateNumber.text(rates.upperBound)
        )
        return RateNumber.isGrouped(text) ? words + " " + catalogue[.settingSeparator] : words
    }

    /// The rate; nil for none.
    var messagesPerSecond: Double? {
        if case .messagesPerSecond(let rate) = self { rate } else { nil }
    }
}
