import HTTPTypes
import PushCore
import Store

/// The control group of a service: its share, its members, and what they do in comparison with others.
struct ControlGroupPage: Sendable {
    let responder: ConsoleResponder

    private static let base = ServiceListPage.path + "/control"
    /// The names of parameters and fields.
    private enum Name {
        static let (service, percent) = ("service", "percent")
        /// The prefix of the names of check boxes.
        static let category = "category."
    }
    /// Four weeks, so that each weekday counts the same.
    private static let days: Int32 = 28

    private var catalogue: Catalogue { responder.pages.catalogue }

    static func path(_ service: String) -> String { "\(base)?\(Name.service)=\(SignIn.encoded(service))" }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.base, .role(.read)) { call in
                let done = call.query["done"] == "set"
                return try await page(call, done ? ["done": .text(catalogue[.controlChanged])] : [:])
            },
            ConsoleRoute(.post, Self.base, .role(.operate)) { try await change($0) },
        ]
    }

    private func page(
        _ call: ConsoleCall,
        _ more: PageValues,
        status: HTTPResponse.Status = .ok
    ) async throws -> ConsoleReply {
        let service = call.query[Name.service] ?? ""
        let (group, results, categories) = try await responder.database.run { store in
            _ = try await store.serviceFacts(service)
            return (
                try await store.controlGroups(ofService: service).first,
                try await store.controlResults(ofService: service, days: Self.days),
                try await store.categories().filter { $0.service == service && !$0.isTransactional }
            )
        }
        let chosen = Set(group?.categories ?? [])
        let boxes = categories.enumerated().map { place, row -> PageValues in
            [
                "field": .text(Name.category + row.name), "fieldID": .text("category-\(place)"),
                "name": .text(row.name), "isChosen": .flag(chosen.contains(row.name)),
            ]
        }
        var values: PageValues = [
            "action": .text(Self.path(service)), "mayOperate": .flag(call.mayOperate),
            "percent": .text(group.map { RateNumber.shown($0.percent) } ?? "0"), "categories": .list(boxes),
            "facts": .list(facts(group)), "hasGroup": .flag(group != nil), "results": .list(results.map(row)),
            "hasResults": .flag(!results.isEmpty),
        ]
        values.merge(more) { _, new in new }
        return .page(
            ConsolePage("control-group", title: catalogue.text(.controlTitleOf, service), values, status: status)
        )
    }

    private func facts(_ group: ControlGroupRow?) -> [PageValues] {
        guard let group else { return [] }
        let members: String? =
            if let members = group.members, let persons = group.persons {
                catalogue.text(.controlMembersOf, Figures.count(members), Figures.count(persons))
            } else { nil }
        let pairs: [(Phrase, String)] = [
            (.controlShare, "\(RateNumber.shown(group.percent)) %"), (.controlSince, Figures.minute(group.since)),
            (.controlCategories, group.categories?.joined(separator: ", ") ?? catalogue[.controlAll]),
            (.controlMembers, members ?? catalogue[.audienceUncounted]),
        ]
        return pairs.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }
    }

    private func row(_ result: ControlResult) -> PageValues {
        [
            "name": .text(result.name), "members": .text(share(result.convertedMembers, of: result.members)),
            "others": .text(share(result.convertedOthers, of: result.others)),
            "since": .text(Figures.minute(result.since)), "difference": .text(result.difference),
        ]
    }

    private func share(_ count: Int64, of all: Int64?) -> String {
        guard let all else { return Figures.count(count) }
        return catalogue.text(.controlMembersOf, Figures.count(count), Figures.count(all))
    }

    private func change(_ call: ConsoleCall) async throws -> ConsoleReply {
        let service = call.query[Name.service] ?? ""
        let typed = call.typed(Name.percent)
        let chosen = call.form.values.keys.filter { $0.hasPrefix(Name.category) }
            .map { String($0.dropFirst(Name.category.count)) }.sorted()
        do {
            guard let percent = Double(typed.replacing(",", with: ".")), percent.isFinite else {
                throw FormRefusal(words: catalogue[.controlPercentWrong])
            }
            try await responder.database.run { store in
                try await store.setControlGroup(
                    ofService: service,
                    percent: percent,
                    categories: chosen.isEmpty ? nil : chosen,
                    by: call.actor
                )
            }
        } catch let error as FormRefusal {
            return try await refused(call, error, typed)
        } catch let error as StoreError {
            guard let refusal = FormRefusal(error) else { throw error }
            return try await refused(call, refusal, typed)
        }
        return .redirect(Self.path(service) + "&done=set")
    }

    private func refused(_ call: ConsoleCall, _ refusal: FormRefusal, _ typed: String) async throws -> ConsoleReply {
        try await page(
            call,
            ["problem": .text(refusal.words), "percent": .text(typed)],
            status: .unprocessableContent
        )
    }
}
