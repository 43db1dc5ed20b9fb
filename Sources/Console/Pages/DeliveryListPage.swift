import HTTPTypes
import PushCore
import Store

/// *Deliveries*: the list with its filter and its order, and what is done to several of its rows.
struct DeliveryListPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/deliveries"
    /// The query parameters of a result: what was done to how many of how many, or refused, for which rows.
    private enum Done {
        static let (act, count, of) = ("done", "n", "of")
        static let (refused, rows) = ("refused", "rows")
    }
    /// Between the ids of rows in an address.
    private static let separator: Character = "-"
    /// The rows of a page: what fits on two screens.
    private static let maxRows = 25

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { try await list($0) },
            ConsoleRoute(.post, Self.path + "/several", .role(.read)) { try await act($0) },
        ]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let query = DeliveryListQuery(call.query)
        let filter = query.filter
        let (page, choices, standings, lastCounts) = try await responder.database.run { store in
            let page = try await store.deliveryPage(filter, maxRows: Self.maxRows)
            return (
                page, try await ListChoices.read(store, filter),
                try await store.approvalStandings(of: page.rows.map(\.progress)),
                try await store.lastCounts(of: page.rows.map(\.progress))
            )
        }
        let icons = try await ApplicationIcons.read(responder.database)
        let chosen = Set((call.query[Done.rows] ?? "").split(separator: Self.separator).compactMap { Int64($0) })
        var values: PageValues = [
            "rows": .list(
                page.rows.map { listed -> PageValues in
                    let id = listed.progress.id
                    var values = row(listed, icons, standings[id], lastCounts[id])
                    values["isChosen"] = .flag(chosen.contains(id))
                    return values
                }
            ),
            "hasRows": .flag(!page.rows.isEmpty),
            "text": .text(filter.text), "author": .text(filter.author), "since": .text(filter.since),
            "until": .text(filter.until), "list": .text(filter.exclusionList), "seed": .text(filter.seed),
            "sort": .text(filter.sort == .date ? "" : filter.sort.rawValue),
            "sinceLabel": .text(catalogue.text(.filterSince, choices.zone)),
            "untilLabel": .text(catalogue.text(.filterUntil, choices.zone)),
            "states": .list(states(filter)), "services": .list(options(choices.services, filter.service)),
            "names": .list(options(choices.applications, filter.application)),
            "categories": .list(options(choices.categories, filter.category)),
            "sorts": .list(sorts(query)), "notices": .list(notices(query)),
            "isFiltered": .flag(query.isFiltered), "isLater": .flag(filter.after != nil),
            "isCut": .flag(page.isCut && filter.sort == .date),
            "isRanked": .flag(page.isCut && filter.sort != .date),
            "firstPath": .text(query.path()), "query": .text(query.text(after: filter.after)),
            "mayCompose": .flag(call.mayCompose),
            "isArchive": .flag(filter.isArchived),
        ]
        if call.mayCompose { values["mine"] = .group(["path": .text(mine(call))]) }
        if let done = done(call) { values["done"] = .text(done) }
        if let act = call.query[Done.refused].flatMap({ Act(rawValue: $0) }) {
            values["refused"] = .text(catalogue[act.wantsRows])
        }
        if let next = page.next { values["next"] = .group(["path": .text(query.path(after: next))]) }
        return .page(ConsolePage("deliveries", title: catalogue[.deliveriesTitle], values))
    }

    private func row(
        _ row: ListedDelivery,
        _ icons: ApplicationIcons,
        _ standing: ApprovalStanding?,
        _ lastCount: Int64?
    ) -> PageValues {
        let words = DeliveryWords(row: row.progress, catalogue: catalogue, standing: standing, lastCount: lastCount)
        var values = words.summary
        values["category"] = .text(row.progress.category ?? "")
        values["clickRate"] = .text(words.isInDays ? "–" : Figures.percent(row.clicked, of: row.sent))
        values["date"] = .text("\(Figures.day(row.localTime)) \(row.localTime.dropFirst(11))")
        values["zone"] = .text(row.zone)
        values["applications"] = .list(
            row.applications.enumerated().map { place, name in
                var values: PageValues = ["name": .text(name), "isFurther": .flag(place > 0)]
                icons.add(to: &values, name)
                return values
            }
        )
        return values
    }

    private func states(_ filter: DeliveryFilter) -> [PageValues] {
        let states: [PageValues] = DeliveryState.allCases.map { state in
            [
                "value": .text(state.rawValue), "name": .text(catalogue.state(state)),
                "isChosen": .flag(filter.state == state),
            ]
        }
        let approvals: [PageValues] = DeliveryFilter.Approval.allCases.map { approval in
            [
                "value": .text(approval.rawValue),
                "name": .text(catalogue[approval == .needed ? .stateUnrequested : .stateAwaited]),
                "isChosen": .flag(filter.approval == approval),
            ]
        }
        return states + approvals + [
            [
                "value": .text(DeliveryListQuery.Name.archived), "name": .text(catalogue[.filterArchived]),
                "isChosen": .flag(filter.isArchived),
            ]
        ]
    }

    private func options(_ names: [String], _ chosen: String) -> [PageValues] {
        names.map { ["value": .text($0), "name": .text($0), "isChosen": .flag($0 == chosen)] }
    }

    private func sorts(_ query: DeliveryListQuery) -> [PageValues] {
        DeliveryFilter.Sort.allCases.map { sort in
            var other = query
            other.filter.sort = sort
            let name: Phrase =
                switch sort {
                case .date: .columnDate
                case .sent: .columnSent
                case .clickRate: .columnClickShare
                }
            return [
                "name": .text(catalogue[name]), "path": .text(other.path()), "isHere": .flag(sort == query.filter.sort),
            ]
        }
    }

    /// What the form has no field for.
    private func notices(_ query: DeliveryListQuery) -> [PageValues] {
        var notices: [String] = []
        let filter = query.filter
        if !filter.exclusionList.isEmpty { notices.append(catalogue.text(.listUsesList, filter.exclusionList)) }
        if !filter.seed.isEmpty { notices.append(catalogue.text(.listUsesSeed, filter.seed)) }
        if query.hasWrongDay { notices.append(catalogue[.recurrenceDateWrong]) }
        return notices.map { ["words": .text($0)] }
    }

    private func mine(_ call: ConsoleCall) -> String {
        var query = DeliveryListQuery(FormParameters())
        query.filter.author = call.session?.user ?? ""
        return query.path()
    }
}

extension DeliveryListPage {
    /// What is done to the chosen rows.
    private enum Act: String {
        case compare, duplicate, archive, unarchive

        /// What it says if other rows were chosen than it needs.
        var wantsRows: Phrase {
            switch self {
            case .compare: .chooseTwo
            case .duplicate: .chooseOneRow
            case .archive, .unarchive: .chooseSome
            }
        }

        func takes(_ rows: Int) -> Bool {
            switch self {
            case .compare: rows == 2
            case .duplicate: rows == 1
            case .archive, .unarchive: rows > 0
            }
        }
    }

    /// The prefix of a chosen row's field; the id of its delivery follows.
    static let chosen = "chosen."

    private func act(_ call: ConsoleCall) async throws -> ConsoleReply {
        guard let act = call.form["go"].flatMap({ Act(rawValue: $0) }) else { throw ConsoleProblem.malformed }
        let ids = call.form.values.keys.filter { $0.hasPrefix(Self.chosen) }
            .compactMap { Int64($0.dropFirst(Self.chosen.count)) }.sorted()
        guard act == .compare || call.mayCompose else { throw ConsoleProblem.refusedRole }
        guard act.takes(ids.count) else {
            // No page has more rows.
            let rows = ids.prefix(Self.maxRows).map(String.init).joined(separator: String(Self.separator))
            return .redirect(back(call, "\(Done.refused)=\(act.rawValue)&\(Done.rows)=\(rows)", isSamePage: true))
        }
        switch act {
        case .compare: return .redirect(ComparePage.path(ids[0], ids[1]))
        case .duplicate: return try await DeliveryDuplicate(responder: responder).reply(call, ids[0])
        case .archive, .unarchive:
            let number = try await responder.database.run {
                try await $0.archive(deliveries: ids, act == .archive, by: call.actor)
            }
            let counts = "\(Done.count)=\(number)&\(Done.of)=\(ids.count)"
            return .redirect(back(call, "\(Done.act)=\(act.rawValue)&\(counts)"))
        }
    }

    /// The list that the form belongs to, with a result: its first page, or the one with the form's rows.
    private func back(_ call: ConsoleCall, _ result: String, isSamePage: Bool = false) -> String {
        var query = FormParameters()
        // It is read and written again, so that it leads nowhere else.
        _ = try? query.read(Array((call.form["query"] ?? "").utf8))
        let list = DeliveryListQuery(query)
        let text = isSamePage ? list.text(after: list.filter.after) : list.text
        return Self.path + "?" + (text.isEmpty ? result : "\(text)&\(result)")
    }

    private func done(_ call: ConsoleCall) -> String? {
        guard let act = call.query[Done.act].flatMap({ Act(rawValue: $0) }),
            let number = call.query[Done.count].flatMap({ Int64($0) }),
            let all = call.query[Done.of].flatMap({ Int64($0) })
        else { return nil }
        let counts = (Figures.count(number), Figures.count(all))
        switch act {
        case .archive: return catalogue.text(.doneArchive, counts.0, counts.1)
        case .unarchive: return catalogue.text(.doneUnarchive, counts.0, counts.1)
        case .compare, .duplicate: return nil
        }
    }
}

/// What the fields of the list's filter offer.
private struct ListChoices: Sendable {
    let services: [String]
    let applications: [String]
    let categories: [String]
    /// The time zone of the days.
    let zone: String

    static func read(_ store: Store, _ filter: DeliveryFilter) async throws -> ListChoices {
        let services = try await store.servicesOfApplications()
        let categories = try await store.categories()
        let isOfService = { (name: String) in filter.service.isEmpty || filter.service == name }
        return ListChoices(
            services: Set(services.values).sorted(),
            applications: services.filter { isOfService($0.value) }.keys.sorted(),
            categories: Set(categories.filter { isOfService($0.service) }.map(\.name)).sorted(),
            zone: try await store.listZone(service: filter.service, application: filter.application)
        )
    }
}
