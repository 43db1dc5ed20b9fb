import HTTPTypes
import PushCore
import Store

/// The step *Approval*: whether somebody else has to approve the delivery. It sets nothing.
extension Composer {
    var approvalRoutes: [ConsoleRoute] {
        [route(.get, "approval") { _, composed in try await approvalPage(composed) }]
    }

    /// The rules of the draft's services.
    private func approvalRules(_ composed: ComposedDraft) async throws -> [ApprovalRule] {
        let own = composed.ownServices
        return try await responder.database.run { try await $0.approvalRules() }.filter { own.contains($0.service) }
    }

    private func approvalPage(_ composed: ComposedDraft) async throws -> ConsoleReply {
        let count = try await size(composed)
        let rows = try await approvalRules(composed).map { rule -> PageValues in
            [
                "service": .text(rule.service), "above": .text(Figures.count(rule.above)),
                "isNeeded": .text(catalogue[Self.isNeeded(rule, count)]),
            ]
        }
        return page(
            .approval,
            composed,
            [
                "rules": .list(rows), "hasRules": .flag(!rows.isEmpty),
                "size": .text(count.map { Figures.count($0) } ?? "–"),
                "next": .text(path(composed.draft, Step.approval.next)),
            ]
        )
    }

    private static func isNeeded(_ rule: ApprovalRule, _ count: Int64?) -> Phrase {
        guard let count else { return .approvalDepends }
        return count > rule.above ? .approvalNeeded : .approvalNotNeeded
    }

    /// How many messages the delivery would have now; nil if that cannot be counted quickly.
    private func size(_ composed: ComposedDraft) async throws -> Int64? {
        let ids = composed.chosen.map(\.id)
        guard !ids.isEmpty else { return nil }
        let isCode = SettingsForm.isOneTimeCode(composed.draft.fields)
        do {
            let count = try await responder.database.run { store in
                try await store.countAudience(
                    try await composed.filter(store),
                    applications: ids,
                    isOneTimeCode: isCode,
                    within: Self.countingLimit
                )
            }
            return count.needsMapping ? nil : count.count
        } catch is TargetFilterError {
            return nil
        } catch let error as StoreError where error.code == .invalid {
            return nil
        }
    }

    /// Whether an approval is needed, for the summary; nothing if no service asks for one.
    func approvalFacts(_ composed: ComposedDraft) async throws -> [(name: String, value: String)] {
        let rules = try await approvalRules(composed)
        guard !rules.isEmpty else { return [] }
        let count = try await size(composed)
        return rules.map { rule -> (name: String, value: String) in
            let words = catalogue.text(.approvalAboveWords, Figures.count(rule.above))
            return (catalogue[.stepApproval], "\(catalogue[Self.isNeeded(rule, count)]) (\(rule.service): \(words))")
        }
    }
}
