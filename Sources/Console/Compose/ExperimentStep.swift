import HTTPTypes
import PushCore
import Store

/// The step *Experiment*: variants of the content; the best one goes to the rest. It may stay empty.
extension Composer {
    var experimentRoutes: [ConsoleRoute] {
        [
            route(.get, "experiment") { call, composed in
                var values = experimentValues(composed, isSaved: call.query["saved"] != nil)
                if plan(composed).skipsRest { values["skipped"] = .group(["path": .text(path(composed.draft, .when))]) }
                if experiment(composed).isOn { values["doubts"] = doubts(composed, try await audience(composed)) }
                return page(.experiment, composed, values)
            },
            route(.post, "experiment") { try await saveExperiment($0, $1) },
        ]
    }

    func experiment(_ composed: ComposedDraft) -> ExperimentForm {
        ExperimentForm(composed: composed, catalogue: catalogue)
    }

    /// What keeps the experiment of a draft from a winner.
    func doubts(_ composed: ComposedDraft, _ audience: Audience) -> PageValue {
        let form = experiment(composed)
        let doubt = form.doubt(audience)
        let doubts = (doubt.isEmpty ? [] : [doubt]) + [form.tooEarlyNow].compactMap(\.self) + form.sameness
        return .list(doubts.map { ["words": .text($0)] })
    }

    /// - Parameters:
    ///   - typed: what was typed; nil to show what the draft has.
    ///   - refusal: what is wrong with it.
    private func experimentValues(
        _ composed: ComposedDraft,
        typed: [String: String]? = nil,
        refusal: FormRefusal? = nil,
        isSaved: Bool = false
    ) -> PageValues {
        let fields = experiment(composed).fields.map { $0.values(typed, problem: refusal?.problems[$0.name]) }
        return [
            "experimentFields": .list(fields), "hasFields": .flag(!composed.platforms.isEmpty),
            "isSaved": .flag(isSaved), "isOff": .flag(experiment(composed).isOff),
        ]
    }

    /// The time at which a draft is to start; nil if it has none that can be read.
    private func start(of composed: ComposedDraft) async throws -> DatabaseTime? {
        let fields = composed.draft.fields
        guard fields[ChosenStart.Name.kind] != nil, let text = fields[ChosenStart.Name.time] else { return nil }
        return try? await moment(text, in: fields[ChosenStart.Name.zone] ?? composed.zone)
    }

    private func saveExperiment(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        var changed = composed
        ExperimentForm.take(call.form, into: &changed.draft.fields)
        let start = try await start(of: composed)
        do throws(FormRefusal) {
            _ = try experiment(changed).rule()
            if let start, let words = experiment(changed).tooEarly(after: start) {
                throw FormRefusal([ExperimentForm.Name.hours: words])
            }
        } catch {
            var values = experimentValues(composed, typed: call.form.values, refusal: error)
            values["refused"] = .group(["words": .text(error.words)])
            return page(.experiment, composed, values, status: .unprocessableContent)
        }
        // The step before has to say something else. The draft stays here, where the page says so.
        return try await save(call, changed, .experiment, stays: plan(changed).skipsRest)
    }
}
