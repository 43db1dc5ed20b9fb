import ArgumentParser
import PushCore
import Store

/// Whom of the subscribers a delivery goes to.
struct TargetOptions: ParsableArguments {
    @Option(help: "In the place of --app: all applications of this service in --environment.")
    var service: String?

    @Option(help: "With --service: production or sandbox.")
    var environment = ApplicationEnvironment.production

    @Option(
        help: ArgumentHelp(
            "Only subscribers that this is true of.",
            discussion: """
                Tests are =, !=, <, <=, >, >=, in (…), contains '…', starts with '…', is null, joined with and, or, not and \
                parentheses; fields are recipient.NAME, parameters.NAME, device.NAME, mapping.COLUMN, locale, time_zone, user_key, \
                registered_at and others. Example: recipient.city = 'Lyon' and registered_at > now - 30 days
                """,
            valueName: "expression"
        )
    )
    var filter: String?

    @Option(name: .customLong("exclude"), help: "An exclusion list whose people get nothing; may be repeated.")
    var excludedLists: [String] = []

    @Flag(help: "Send twice to a device that two of the applications, or two explicit targets, name.")
    var allowDuplicates = false

    /// What is set of a delivery's target.
    private var target: DeliveryTarget {
        DeliveryTarget(
            filter: filter,
            excludedLists: excludedLists.isEmpty ? nil : excludedLists,
            allowsDuplicates: allowDuplicates ? true : nil
        )
    }

    /// The applications' names: those that were named, or those of the service.
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

    /// Finds what is wrong before anything is created.
    func check(applications: [String], _ store: Store) async throws {
        if let filter { try await store.checkFilter(filter, applications: applications) }
        guard !excludedLists.isEmpty else { return }
        let known = try await store.exclusionLists().map(\.name)
        for list in excludedLists where !known.contains(list) {
            throw CommandFailure.unknownName("exclusion list", list, among: known, list: "exclusion list")
        }
    }

    /// Sets what was given of a delivery that is not started.
    func apply(toDelivery id: Int64, _ store: Store) async throws {
        if !target.isEmpty { try await store.setTarget(ofDelivery: id, target) }
    }
}
