import Administration
import ArgumentParser
import PushCore
import Store

/// The subscribers that a delivery goes to.
struct TargetOptions: ParsableArguments {
    @Option(help: "Instead of --app: all applications of this service in --environment.")
    var service: String?

    @Option(help: "With --service: production or sandbox.")
    var environment = ApplicationEnvironment.production

    @Option(
        help: ArgumentHelp(
            "Only subscribers that match this filter.",
            discussion: """
                Comparisons are =, !=, <, <=, >, >=, in (…), contains '…', starts with '…' and is null, combined with \
                and, or, not and parentheses. Fields are recipient.NAME, parameters.NAME, device.NAME, mapping.COLUMN, \
                locale, time_zone, user_key, registered_at and others. Example: recipient.city = 'Lyon' and \
                registered_at > now - 30 days
                """,
            valueName: "expression"
        )
    )
    var filter: String?

    @Option(help: "Instead of --filter: a copy of the filter of this saved audience of the applications' service.")
    var audience: String?

    @Option(name: .customLong("exclude"), help: "An exclusion list whose people get nothing; may be repeated.")
    var excludedLists: [String] = []

    @Option(name: .customLong("seed"), help: "A seed address that also gets it; may be repeated.")
    var seeds: [String] = []

    @Flag(inversion: .prefixedNo, help: "All seed addresses of the applications also get it.")
    var allSeeds: Bool?

    @Flag(help: "Send twice to a device that is in two of the applications, or in two explicit targets.")
    var allowDuplicates = false

    /// Whether there is a filter; an empty one is none, and replaces a template's.
    var hasFilter: Bool { filter.map { !TargetFilter.isNone($0) } ?? false }

    /// The target settings that were given.
    private var target: DeliveryTarget {
        DeliveryTarget(
            filter: filter,
            audience: audience,
            excludedLists: excludedLists.isEmpty ? nil : excludedLists,
            allowsDuplicates: allowDuplicates ? true : nil
        )
    }

    /// The names of the applications: those given, or those of the service.
    func applications(_ named: [String], _ store: Store) async throws -> [String] {
        guard let service else { return named }
        let found = try await store.applications(ofService: service, environment: environment)
        guard !found.isEmpty else {
            throw CommandFailure(
                .data,
                "Service \(service) has no \(environment.rawValue) application: `pushmta service show \(service)` lists them."
            )
        }
        return found.map(\.name)
    }

    /// Finds problems before anything is created.
    func check(applications: [String], _ store: Store) async throws {
        if let filter, hasFilter { try await store.checkFilter(filter, applications: applications) }
        if !seeds.isEmpty {
            let known = try await store.seeds().map(\.seed)
            for name in seeds {
                guard let seed = known.first(where: { $0.name == name }) else {
                    throw CommandFailure.unknownName("seed address", name, among: known.map(\.name), list: "seed list")
                }
                guard applications.contains(seed.application) else {
                    throw CommandFailure(
                        .data,
                        "Seed address \(name) belongs to application \(seed.application), which is not part of the delivery."
                    )
                }
            }
        }
        try await Self.check(excludedLists: excludedLists, store)
    }

    /// Finds exclusion lists that do not exist.
    static func check(excludedLists: [String], _ store: Store) async throws {
        guard !excludedLists.isEmpty else { return }
        let known = try await store.exclusionLists().map(\.name)
        for list in excludedLists where !known.contains(list) {
            throw CommandFailure.unknownName("exclusion list", list, among: known, list: "exclusion list")
        }
    }

    /// Applies the given settings to a delivery that is not started.
    func apply(toDelivery id: Int64, _ store: Store) async throws {
        if !target.isEmpty { try await store.setTarget(ofDelivery: id, target) }
        if allSeeds != nil || !seeds.isEmpty {
            try await store.setSeeds(ofDelivery: id, allSeeds == true ? nil : seeds)
        }
    }
}
