import LaboratoryStore
import PushCore
import Store
import Synchronization

/// The campaigns that run beside a drill's plain deliveries.
struct CampaignLoad: Sendable {
    /// The applications that they go to.
    let applications: [String]
    /// What becomes of ambiguous messages.
    let policy: AmbiguityPolicy
    /// The subscriptions that they go to.
    let people: [Int64]
    /// How often all kinds were started.
    var rounds = 0
}

extension DrillSite {
    /// How often all kinds of campaigns are started, one round after another.
    private static let maxCampaignRounds = 5
    /// How long the start of a campaign may take, also if the database fails meanwhile.
    private static let campaignLimit = Duration.seconds(60)

    /// Runs campaigns from now on, beside plain deliveries to the same applications. They go to one in 56 of the
    /// audience, so they take little of the rate.
    func beginCampaigns(to applications: [String], policy: AmbiguityPolicy) async throws {
        let people = try await store().makeCampaignPeople(of: applications, zones: CampaignKind.zones)
        state.withLock { $0.campaigns = CampaignLoad(applications: applications, policy: policy, people: people) }
        try await refillCampaigns()
    }

    /// Starts another round of campaigns if the last one is over.
    func refillCampaigns() async throws {
        guard let load = state.withLock({ $0.campaigns }), load.rounds < Self.maxCampaignRounds, !load.people.isEmpty
        else { return }
        for delivery in deliveries.reversed() where delivery.campaign != nil {
            guard try await progress(delivery).state.isFinal else { return }
        }
        let round = load.rounds + 1
        state.withLock { $0.campaigns?.rounds = round }
        let category = try await makeCapped("campaign-\(round)", of: load.applications)
        let kinds: [CampaignKind] = [
            .waves, .capped(category: category), .localTime(skipsPast: false), .capped(category: category),
            .experiment, .localTime(skipsPast: true), .capped(category: category),
        ]
        for kind in kinds {
            let id = try await createCampaign(kind, to: load.applications, policy: load.policy) { $0.keepTrying() }
            try await startCampaign(id, kind, to: load.people, policy: load.policy)
        }
        note("round \(round) of the campaigns: \(kinds.count) deliveries to \(load.people.count) subscriptions")
    }

    /// Adds a category to the applications' service, with a cap of ``CampaignKind/cap`` deliveries.
    func makeCapped(_ category: String, of applications: [String]) async throws -> String {
        let store = try store()
        let service = try await service(of: applications)
        try await store.setCategory(category, service: service)
        try await store.setFrequencyCap(
            FrequencyCapRow(
                service: service,
                name: category,
                maxMessages: Int32(CampaignKind.cap),
                unit: .hours,
                length: 24,
                categories: [category]
            )
        )
        return category
    }

    /// The service of applications.
    func service(of applications: [String]) async throws -> String {
        let services = try await store().servicesOfApplications()
        guard let service = applications.lazy.compactMap({ services[$0] }).first else {
            throw DrillFailure("the applications \(applications) have no service")
        }
        return service
    }

    /// Creates a campaign without starting it.
    ///
    /// - Parameters:
    ///   - targets: The subscriptions that it goes to; nil for all people of campaigns.
    ///   - localTimeAfter: Seconds until its local time comes in the last zone, if it has one.
    func createCampaign(
        _ kind: CampaignKind,
        to applications: [String],
        policy: AmbiguityPolicy = .resend,
        targets: [Int64]? = nil,
        localTimeAfter: Int32 = CampaignKind.localTimeAfter,
        _ change: (inout NewDelivery) -> Void = { _ in }
    ) async throws -> Int64 {
        let store = try store()
        var new = NewDelivery(
            label: "Drill \(name), campaign",
            applications: applications,
            content: TestAudience.content,
            explicitTargets: targets != nil,
            ambiguityPolicy: policy
        )
        new.category = kind.category
        change(&new)
        let id = try await store.createDelivery(new)
        if let targets {
            try await store.addTargets(targets.map { ExplicitTarget(.subscription($0)) }, toDelivery: id)
        } else {
            try await store.setTarget(ofDelivery: id, DeliveryTarget(filter: Store.campaignFilter))
        }
        let localTime = try await store.localTime(in: CampaignKind.zones[0], afterSeconds: localTimeAfter)
        if let plan = kind.plan(localTime: localTime) { try await store.setPlan(ofDelivery: id, plan) }
        if let experiment = kind.experiment { try await store.setExperiment(id, experiment) }
        return id
    }

    /// Starts a campaign. The site watches it, and includes it in the reconciliation.
    ///
    /// - Parameter people: The subscriptions that it was made for.
    @discardableResult
    func startCampaign(_ id: Int64, _ kind: CampaignKind, to people: [Int64], policy: AmbiguityPolicy = .resend)
        async throws -> DrillDelivery
    {
        let delivery = DrillDelivery(
            id: id,
            policy: policy,
            messages: Int64(people.count),
            allows: kind.endings,
            campaign: kind
        )
        watch(delivery)
        state.withLock { $0.campaignPeople[id] = Set(people) }
        try await until("the start of campaign \(id)", within: Self.campaignLimit) {
            do {
                try await store().startDelivery(id)
            } catch let error as StoreError where error.code == .conflict {
                // The reply to an earlier attempt was lost.
                guard try await ![.editing, .ready].contains(progress(delivery).state) else { throw error }
                note("campaign \(id) was started before: \(error)")
            }
            return true
        }
        return delivery
    }

    /// The campaigns, for their account.
    ///
    /// - Parameter tallies: What the gateway did with each message, by delivery.
    func campaignDeliveries(_ tallies: [Int64: [Int32: GatewayTally]]) async throws -> [CampaignAccount.Delivery] {
        let store = try store()
        let people = state.withLock { $0.campaignPeople }
        var campaigns: [CampaignAccount.Delivery] = []
        for delivery in deliveries {
            guard let kind = delivery.campaign else { continue }
            let outcomes = try await store.outcomeRows(delivery: delivery.id)
            campaigns.append(
                CampaignAccount.Delivery(
                    id: delivery.id,
                    kind: kind,
                    audience: people[delivery.id] ?? [],
                    facts: try await store.campaignFacts(delivery: delivery.id),
                    tallies: tallies[delivery.id] ?? [:],
                    ignored: Set(outcomes.filter { $0.status == .ignored }.map(\.sequence))
                )
            )
        }
        return campaigns
    }
}
