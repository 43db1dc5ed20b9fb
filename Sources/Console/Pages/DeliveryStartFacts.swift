import Content
import PushCore
import Store

/// What a delivery sends and when, for those who confirm its start: the same as the confirmation of a draft.
struct DeliveryStartFacts: Sendable {
    let catalogue: Catalogue

    /// - Parameter start: when it starts; nil if that is not known yet.
    /// - Returns: the facts, what messages wait for besides their turn, and whether none of them would be sent.
    func read(_ store: Store, _ id: Int64, start: DatabaseTime?) async throws
        -> (facts: [(name: String, value: String)], waits: Phrase?, reachesNobody: Bool)
    {
        var facts: [(name: String, value: String)] = []
        if let row = try await store.experiment(ofDelivery: id) {
            let variants = try await store.experimentVariants(ofDelivery: id)
            facts.append((catalogue[.experimentTitle], ExperimentSummary(row, variants).words(catalogue)))
            if let start, let seconds = row.decideAfterSeconds, variants.contains(where: \.isRest) {
                let decision = start.advanced(byMilliseconds: seconds * 1_000)
                facts.append((catalogue[.experimentDecides], Figures.minute(decision)))
            }
        }
        let locales = ContentForm.values(json: try await store.content(ofDelivery: id))[ContentForm.locales] ?? ""
        if !locales.isEmpty { facts.append((catalogue[.localesField], locales)) }
        let plan = try await store.plan(ofDelivery: id)
        if let plan { facts += PlanView(plan: plan, zones: [], isOver: false, catalogue: catalogue).startFacts }
        let late = try await store.lateMessages(ofDelivery: id, start: start)
        if late.messages > 0 { facts.append((catalogue[.lateMessages], Figures.count(late.messages))) }
        var hours: [(name: String, value: String)] = []
        // What replaces or removes a message goes out at any hour.
        if try await store.delivery(recalledBy: id) == nil {
            let services = try await store.servicesOfApplications()
            let names = try await store.applicationNames(ofDeliveries: [id])[id] ?? []
            let own = Set(names.compactMap { services[$0] })
            let progress = try await store.deliveryProgress(id)
            let transactional = try await store.categories().filter {
                $0.isTransactional && $0.name == progress.category
            }
            let exempt = progress.isOneTimeCode ? own : Set(transactional.map(\.service))
            hours = try await self.hours(store, of: own, rule: plan?.hours, exempt: exempt)
        }
        let caps = catalogue.facts(of: try await store.frequencyCaps(ofDelivery: id))
        let isPlanned = plan.map(PlanView.waits) == true || plan?.hours != nil
        let waits: Phrase? = isPlanned ? .startPlanned : hours.isEmpty ? nil : .startHours
        return (facts + hours + caps, waits, late.isAll)
    }

    /// The sending hours of services, and what happens outside of them unless the plan says so; nothing of services
    /// without hours, or if the plan ignores them.
    ///
    /// - Parameter exempt: the services whose hours count only if the plan has a rule: for one-time codes, all of them;
    ///   for other deliveries, those in which their category is transactional.
    func hours(
        _ store: Store,
        of services: Set<String>,
        rule: DeliveryPlan.HoursRule?,
        exempt: Set<String>
    ) async throws -> [(name: String, value: String)] {
        guard rule != .ignore else { return [] }
        var facts: [(name: String, value: String)] = []
        for service in services.sorted() where rule != nil || !exempt.contains(service) {
            let hours = try await store.sendingHours(ofService: service)
            guard !hours.hours.isEmpty || !hours.daysOff.isEmpty else { continue }
            let outside: Phrase =
                switch hours.outside {
                case .postpone: .hoursPostpone
                case .drop: .hoursDrop
                }
            let week = ServiceHoursPage.summary(hours, catalogue)
            if !week.isEmpty { facts.append((catalogue[.hoursTitle], "\(week) (\(service))")) }
            guard rule == nil else { continue }
            facts.append((catalogue[.hoursRuleLabel], "\(catalogue[outside]) (\(service))"))
        }
        return facts
    }
}
