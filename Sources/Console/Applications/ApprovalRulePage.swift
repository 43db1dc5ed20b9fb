import HTTPTypes
import PushCore
import Store

/// The approval rule of a service: above how many messages a delivery needs an approval.
struct ApprovalRulePage: Sendable {
    let responder: ConsoleResponder

    private static let base = ServiceListPage.path + "/approval"
    /// The names of parameters and fields.
    private enum Name {
        static let (service, above) = ("service", "above")
    }
    /// More digits than any delivery's number of messages has.
    private static let maxDigits = 12

    private var catalogue: Catalogue { responder.pages.catalogue }

    static func path(_ service: String) -> String { "\(base)?\(Name.service)=\(SignIn.encoded(service))" }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.base, .role(.read)) { try await show($0) },
            ConsoleRoute(.post, Self.base, .role(.admin)) { try await change($0) },
        ]
    }

    /// The rule's form for administrators, and the rule as a sentence for others.
    private func show(_ call: ConsoleCall) async throws -> ConsoleReply {
        let service = call.query[Name.service] ?? ""
        let above = try await rule(service)
        if call.mayDeclare { return form(service, above).reply() }
        let sentence = above.map { catalogue.text(.approvalRuleAbove, Figures.count($0)) }
        return .page(
            ConsolePage(
                "service-facts",
                title: catalogue.text(.approvalRuleTitle, service),
                [
                    "intro": .text(catalogue[.approvalRuleText]),
                    "sentence": .text(sentence ?? catalogue[.approvalRuleNone]),
                ]
            )
        )
    }

    /// The largest number of messages that needs no approval; nil if no delivery needs one.
    private func rule(_ service: String) async throws -> Int64? {
        let rules = try await responder.database.run { store in
            // Throws if there is no such service.
            _ = try await store.serviceFacts(service)
            return try await store.approvalRules()
        }
        return rules.first { $0.service == service }?.above
    }

    private func form(_ service: String, _ above: Int64?) -> FormPage {
        FormPage(
            title: catalogue.text(.approvalRuleTitle, service),
            action: Self.path(service),
            back: (ServiceListPage.path, catalogue[.servicesTitle]),
            intro: catalogue[.approvalRuleText],
            related: (path: UsersPage.path, name: catalogue[.approvalRuleUsers]),
            fields: [
                FormField(
                    name: Name.above,
                    label: catalogue[.approvalRuleField],
                    kind: .text,
                    hint: catalogue[.approvalRuleHint],
                    value: above.map { "\($0)" } ?? "",
                    maxLength: Self.maxDigits
                )
            ],
            button: catalogue[.save]
        )
    }

    private func change(_ call: ConsoleCall) async throws -> ConsoleReply {
        let service = call.query[Name.service] ?? ""
        return try await form(service, try await rule(service)).reply(to: call) {
            let typed = call.typed(Name.above)
            let above = Int64(typed)
            // "1,000" is not read as 1, and a sign is not a digit.
            guard typed.isEmpty || above != nil && typed.utf8.count <= Self.maxDigits && typed.utf8.allSatisfy(isDigit)
            else { throw FormRefusal([Name.above: catalogue[.approvalRuleWrong]]) }
            try await responder.database.run {
                try await $0.setApprovalRule(service: service, above: above, by: call.actor)
            }
            return .redirect(ServiceListPage.path + "?done=approval")
        }
    }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
