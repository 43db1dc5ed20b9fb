import HTTPTypes
import PushCore
import Store

/// The step *When*: the recipient's time, waves, and what happens outside of the sending hours. It may stay empty.
extension Composer {
    var whenRoutes: [ConsoleRoute] {
        [
            route(.get, "when") { call, composed in
                let form = plan(composed)
                var values = form.page
                values["isSaved"] = .flag(call.query["saved"] != nil && !form.isWrong)
                values["timeDoubts"] = .list(form.timeDoubts.map { ["words": .text($0)] })
                return page(.when, composed, values)
            },
            route(.post, "when") { call, composed in
                var composed = composed
                PlanForm.take(call.form, into: &composed.draft.fields)
                // The usual zone need not be kept until a time is typed in it.
                let isTyped = !PlanForm.moments(in: composed.draft.fields).isEmpty
                if !isTyped, composed.zone == composed.usualZone { composed.draft.fields[PlanForm.zone] = nil }
                composed = try await responder.database.run { [composed] store in
                    var changed = composed
                    try await changed.readMoments(store)
                    return changed
                }
                // A plan with an error is saved, but the draft stays at this step.
                return try await save(call, composed, .when, stays: plan(composed).isWrong)
            },
        ]
    }

    func plan(_ composed: ComposedDraft) -> PlanForm {
        PlanForm(
            values: composed.draft.fields,
            catalogue: catalogue,
            zone: composed.zone,
            zones: composed.zones,
            moments: composed.moments,
            now: composed.readAt,
            hasRest: experiment(composed).hasRest
        )
    }
}
