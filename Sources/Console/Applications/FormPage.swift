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
    /// A page that belongs to the form.
    var related: (path: String, name: String)?
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
            "countsTexts": .flag(fields.contains { $0.counter != nil }),
            "hasForm": .flag(obstacle.isEmpty), "isStale": .flag(refusal?.isStale ?? false),
        ]
        if !intro.isEmpty { values["intro"] = .text(intro) }
        if let related { values["related"] = .group(["path": .text(related.path), "pageName": .text(related.name)]) }
        if !obstacle.isEmpty { values["obstacle"] = .text(obstacle) }
        if let refusal { values["problem"] = .text(refusal.words) }
        return .page(ConsolePage("form", title: title, values, status: refusal == nil ? .ok : .unprocessableContent))
    }

    /// Runs the form's action. If the store refuses the input, the form is shown again with the store's message.
    func reply(to call: ConsoleCall, _ work: () async throws -> ConsoleReply) async throws -> ConsoleReply {
        do {
            let problems = fields.reduce(into: [String: String]()) { problems, field in
                problems[field.name] = field.lineProblem(call.typed(field.name))
            }
            guard problems.isEmpty else { throw FormRefusal(problems) }
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
