import HTTPTypes
import PushCore
import Store

/// The step *Limits*: the category with its frequency caps, and the rate or the signal that it follows. It may stay
/// empty.
extension Composer {
    var limitRoutes: [ConsoleRoute] {
        [
            route(.get, "limits") { try await limitsPage($0, $1) },
            route(.post, "limits") { call, composed in
                var composed = composed
                SettingsForm.take(call.form, into: &composed.draft.fields)
                takeFollow(call, &composed.draft.fields)
                // Limits with an error are saved, but the draft stays at this step.
                return try await save(call, composed, .limits, stays: areLimitsWrong(composed))
            },
        ]
    }

    private var followForm: FollowForm { FollowForm(prefix: ComposedDraft.Name.follow, catalogue: catalogue) }

    /// What the draft has if the form of the signal was saved, also without one.
    private static let followSaid = ComposedDraft.Name.follow + "said"

    /// Takes the typed limits of a signal; without a signal there are none.
    private func takeFollow(_ call: ConsoleCall, _ fields: inout [String: String]) {
        let form = followForm
        // The site has no signals.
        guard call.form[form.signal] != nil else { return }
        fields[Self.followSaid] = FormField.yes
        let isFollowed = !call.typed(form.signal).isEmpty
        for name in form.names {
            let text = call.typed(name)
            fields[name] = isFollowed && !text.isEmpty ? text : nil
        }
    }

    /// The signal that the delivery is to follow; nil for none. Throws what is wrong, by field.
    func follow(_ composed: ComposedDraft) throws(FormRefusal) -> SignalLimits? {
        try followForm.limits { composed.draft.fields[$0] ?? "" }
    }

    /// Whether the draft says what it follows.
    func saysFollow(_ composed: ComposedDraft) -> Bool { composed.draft.fields[Self.followSaid] != nil }

    /// What is wrong with it, by field.
    private func followProblems(_ composed: ComposedDraft) -> [String: String] {
        do throws(FormRefusal) {
            _ = try follow(composed)
            return [:]
        } catch {
            return error.problems
        }
    }

    /// Whether a limit of the draft is invalid.
    func areLimitsWrong(_ composed: ComposedDraft) -> Bool {
        settings(composed).isWrong(among: SettingsForm.limits) || !followProblems(composed).isEmpty
    }

    /// The services in which the draft's category is transactional.
    func transactionalServices(_ composed: ComposedDraft) -> Set<String> {
        let name = settings(composed).category
        return Set(composed.allCategories.filter { $0.name == name && $0.isTransactional }.map(\.service))
    }

    /// The frequency caps of the draft's services, and whether each applies to its category.
    private func caps(_ composed: ComposedDraft, _ all: [FrequencyCapRow]) -> [(cap: FrequencyCapRow, applies: Bool)] {
        let name = settings(composed).category
        let isCode = SettingsForm.isOneTimeCode(composed.draft.fields)
        let own = composed.ownServices
        let transactional = transactionalServices(composed)
        return all.filter { own.contains($0.service) }.map { cap in
            // A cap that names categories is for those. The others are for all that are not transactional.
            (cap, cap.categories.map { $0.contains(name) } ?? (!isCode && !transactional.contains(cap.service)))
        }
    }

    private func limitsPage(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        let (all, signals) = try await responder.database.run { store in
            (try await store.frequencyCaps(), try await store.signalChoices())
        }
        let rows = caps(composed, all).map { cap, applies -> PageValues in
            [
                "cap": .text("\(cap.service) · \(cap.name)"), "words": .text(catalogue.short(cap)),
                "applies": .text(catalogue[applies ? .capApplies : .capApplyNot]),
            ]
        }
        let form = settings(composed)
        let problems = followProblems(composed)
        let follow = followForm.fields(signals, composed.draft.fields).map {
            $0.values(composed.draft.fields, problem: problems[$0.name])
        }
        return page(
            .limits,
            composed,
            [
                "isSaved": .flag(call.query["saved"] != nil && !areLimitsWrong(composed)),
                "capSettings": .list(form.fields([.category, .code])), "rateSettings": .list(form.fields([.rate])),
                "caps": .list(rows), "hasCaps": .flag(!rows.isEmpty), "followFields": .list(follow),
                "hasSignals": .flag(!signals.isEmpty),
            ]
        )
    }

    /// The signal that the delivery follows, for the confirmation of the start; empty if it follows none.
    func followFacts(_ composed: ComposedDraft) -> [(name: String, value: String)] {
        composed.draft.fields[followForm.signal].map { [(catalogue[.followTitle], $0)] } ?? []
    }

    /// What is set, for the summary.
    func limitFacts(_ composed: ComposedDraft) async throws -> [(name: String, value: String)] {
        settings(composed).facts(SettingsForm.limits) + followFacts(composed) + (try await capFacts(composed))
    }

    /// The frequency caps that apply, for the summary and for the confirmation of the start; empty if none does.
    func capFacts(_ composed: ComposedDraft) async throws -> [(name: String, value: String)] {
        let all = try await responder.database.run { try await $0.frequencyCaps() }
        return catalogue.facts(of: caps(composed, all).filter { $0.applies }.map { $0.cap })
    }
}
