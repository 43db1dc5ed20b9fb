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
        let audience = try await audience(composed)
        let rows = try await approvalRules(composed).map { rule -> PageValues in
            [
                "service": .text(rule.service), "above": .text(Figures.count(rule.above)),
                "isNeeded": .text(catalogue[Self.isNeeded(rule, audience)]),
            ]
        }
        return page(
            .approval,
            composed,
            [
                "rules": .list(rows), "hasRules": .flag(!rows.isEmpty),
                "size": .text(audience.words),
                "next": .text(path(composed.draft, Step.approval.next)),
            ]
        )
    }

    /// Whether the delivery needs an approval, as far as its audience says: the number may be an estimate, and
    /// preparation may leave people out.
    private static func isNeeded(_ rule: ApprovalRule, _ audience: Audience) -> Phrase {
        guard let count = audience.count else { return .approvalDepends }
        let error = count.error ?? 0
        guard count.count + error > rule.above else { return .approvalNotNeeded }
        return audience.isAtMost || count.count - error <= rule.above ? .approvalDepends : .approvalNeeded
    }

    /// The button that has the delivery analysed and then started; nil if no service asks for approvals. A delivery of
    /// a service that does is counted before it is started, whatever its size.
    func approvalButton(_ composed: ComposedDraft, _ audience: Audience) async throws -> Phrase? {
        let rules = try await approvalRules(composed)
        guard !rules.isEmpty else { return nil }
        let isNotNeeded = rules.allSatisfy { Self.isNeeded($0, audience) == .approvalNotNeeded }
        return isNotNeeded ? .analyseAndStart : .analyseForApproval
    }

    /// Whether an approval is needed, for the summary; nothing if no service asks for one.
    func approvalFacts(_ composed: ComposedDraft) async throws -> [(name: String, value: String)] {
        let rules = try await approvalRules(composed)
        guard !rules.isEmpty else { return [] }
        let audience = try await audience(composed)
        return rules.map { rule -> (name: String, value: String) in
            let words = catalogue.text(.approvalAboveWords, Figures.count(rule.above))
            return (catalogue[.stepApproval], "\(catalogue[Self.isNeeded(rule, audience)]) (\(rule.service): \(words))")
        }
    }
}
