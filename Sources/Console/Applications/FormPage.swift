import HTTPTypes
import PushCore
import Store

/// A page with one form. When the form is refused, it is shown again with what was typed.
struct FormPage: Sendable {
    let title: String
    /// The path that it is sent to.
    let action: String
    /// Where leaving the form leads, and the name of that place.
    let back: (path: String, name: String)
    var intro = ""
    let fields: [FormField]
    /// Hidden fields, such as the version that the thing had when the form was made.
    var hidden: [String: String] = [:]
    let button: String
    /// Why there is no form now; "" if there is one.
    var obstacle = ""

    /// The empty form.
    func reply() -> ConsoleReply { reply(typed: nil, refusal: nil) }

    /// The form again, with what is wrong.
    private func reply(typed: [String: String]?, refusal: FormRefusal?) -> ConsoleReply {
        let kept = hidden.map { name, value in (name: name, value: typed?[name] ?? value) }
        var values: PageValues = [
            "action": .text(action), "back": .text(back.path), "backName": .text(back.name), "button": .text(button),
            "fields": .list(fields.map { $0.values(typed, problem: refusal?.problems[$0.name]) }),
            "hidden": .list(kept.map { ["name": .text($0.name), "value": .text($0.value)] }),
            "hasForm": .flag(obstacle.isEmpty), "isStale": .flag(refusal?.isStale ?? false),
        ]
        if !intro.isEmpty { values["intro"] = .text(intro) }
        if !obstacle.isEmpty { values["obstacle"] = .text(obstacle) }
        if let refusal { values["problem"] = .text(refusal.words) }
        return .page(ConsolePage("form", title: title, values, status: refusal == nil ? .ok : .unprocessableContent))
    }

    /// Runs the form's action. If the store refuses the input, the form is shown again with the store's message.
    func reply(to call: ConsoleCall, _ work: () async throws -> ConsoleReply) async throws -> ConsoleReply {
        do {
            return try await work()
        } catch let error as FormRefusal {
            return reply(typed: call.form.values, refusal: error)
        } catch let error as CredentialRefusal {
            return reply(typed: call.form.values, refusal: FormRefusal(words: error.description))
        } catch let error as StoreError {
            guard let refusal = FormRefusal(error) else { throw error }
            return reply(typed: call.form.values, refusal: refusal)
        }
    }
}

extension ConsoleCall {
    /// The value of a field, without surrounding blanks.
    func typed(_ name: String) -> String {
        (form[name] ?? "").trimmed
    }

    /// Whether a field is ticked.
    func isTicked(_ name: String) -> Bool { form[name] == FormField.yes }
}

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
