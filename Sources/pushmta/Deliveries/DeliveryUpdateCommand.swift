import Administration
import ArgumentParser
import Content
import PushCore
import Store

/// `pushmta delivery update ID`.
struct DeliveryUpdateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change a delivery that has sent nothing.",
        discussion: """
            Only what is named changes. An analysis is dropped if its messages change. A delivery that has begun cannot be \
            changed; `pushmta delivery copy` makes one that can. `pushmta delivery rate` and `pushmta delivery weight` \
            work at any time.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(help: "Its name.")
    var label: String?

    @Option(help: "The whole content as JSON text, or the path of a file after @, as in @content.json.")
    var content: String?

    @Option(
        help: ArgumentHelp(
            "Only subscribers that match this filter, as with `pushmta delivery create --filter`; \"\" for all of them.",
            valueName: "expression"
        )
    )
    var filter: String?

    @Option(help: "Instead of --filter: a copy of the filter of this saved audience of the applications' service.")
    var audience: String?

    @Option(
        name: .customLong("exclude"),
        help: "An exclusion list whose people get nothing, in place of the previous ones; may be repeated."
    )
    var excludedLists: [String] = []

    @Flag(help: "No exclusion list applies.")
    var noExclude = false

    @Option(help: "A greater priority goes first: \(DeliverySetting.priority.expectation).")
    var priority: Int16?

    @Option(help: "Seconds after its start during which messages are sent, \(DeliverySetting.validity.expectation).")
    var validity: Int64?

    @Option(help: "Instead of --validity: until when messages are sent, a time with its zone.")
    var endsAt: String?

    @Option(
        help:
            "The maximum number of retries of a message after failures that may pass, \(DeliverySetting.maxRetries.expectation)."
    )
    var maxRetries: Int32?

    @Option(help: "How retries are spread, as with `pushmta delivery create --retry-schedule`.")
    var retrySchedule: RetryPolicy.ScheduleSetting?

    @Option(help: "Seconds before the first retry, \(DeliverySetting.retryPeriod.expectation).")
    var retryPeriod: Int32?

    @Flag(
        inversion: .prefixedNo,
        help: "Never resend a message that the gateway may have received: record it as unknown."
    )
    var reportAmbiguous: Bool?

    @Flag(inversion: .prefixedNo, help: "Each user gets it on one subscription only.")
    var onePerUser: Bool?

    @Option(
        help:
            "Its category: \(DeliverySetting.category.expectation). It does not reach people who opted out of it."
    )
    var category: String?

    func validate() throws {
        try Self.check("--priority", priority.flatMap { DeliverySetting.priority.problem(Int64($0)) })
        try Self.check("--validity", validity.flatMap { DeliverySetting.validity.problem($0) })
        try Self.check("--max-retries", maxRetries.flatMap { DeliverySetting.maxRetries.problem(Int64($0)) })
        try Self.check("--retry-period", retryPeriod.flatMap { DeliverySetting.retryPeriod.problem(Int64($0)) })
        if let label {
            guard !label.isEmpty else { throw ValidationError("--label is empty: \(NameRule.labelWords).") }
            if let problem = NameRule.problem(label: label) {
                throw ValidationError("--label \(problem): \(NameRule.labelWords).")
            }
        }
        if let endsAt {
            guard ZonedTime(endsAt) != nil else { throw ValidationError("--ends-at \(ZonedTime.words).") }
            guard validity == nil else { throw ValidationError("Give either --validity or --ends-at.") }
        }
        guard filter == nil || audience == nil else {
            throw ValidationError("Give either --filter or --audience.")
        }
        guard excludedLists.isEmpty || !noExclude else {
            throw ValidationError("Give either --exclude or --no-exclude.")
        }
        guard content != nil || !wanted(content: nil).isEmpty else {
            throw ValidationError("Name what to change, such as --label or --filter.")
        }
    }

    private static func check(_ option: String, _ problem: String?) throws {
        guard let problem else { return }
        throw ValidationError("\(option): \(problem).")
    }

    private func wanted(content: String?) -> DeliveryChanges {
        var changes = DeliveryChanges()
        changes.label = label
        changes.content = content
        changes.filter = filter.map { TargetFilter.isNone($0) ? "" : $0 }
        changes.audience = audience
        changes.excludedLists = noExclude ? [] : excludedLists.isEmpty ? nil : excludedLists
        changes.priority = priority
        changes.validitySeconds = validity
        changes.endsAt = endsAt
        changes.onePerUser = onePerUser
        changes.ambiguityPolicy = reportAmbiguous.map { $0 ? .report : .resend }
        changes.maxRetries = maxRetries
        changes.retryPeriodSeconds = retryPeriod
        changes.retrySchedule = retrySchedule
        changes.category = category
        return changes
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let text = try content.map { try ContentText(argument: $0) }
        _ = try text?.content()
        let changes = wanted(content: text?.text)
        let (before, after) = try await StoreSession.run(loaded.values) { store in
            try await precheck(changes, store)
            let old = try await store.deliveryProgress(id).state
            try await store.updateDelivery(id, changes)
            return (old, try await store.deliveryProgress(id).state)
        }
        let isDropped = before != after && after == .editing
        StandardOutput.line(
            "Delivery \(id) was changed."
                + (isDropped ? " Its analysis was dropped; `pushmta delivery analyze \(id)` makes a new one." : ""),
            [("id", .integer(id))]
        )
    }

    /// Finds problems that would otherwise appear after the start, or without the names that were probably meant.
    private func precheck(_ changes: DeliveryChanges, _ store: Store) async throws {
        let applications = try await store.job(id).applications.map(\.name)
        if let filter = changes.filter, !filter.isEmpty {
            try await store.checkFilter(filter, applications: applications)
        }
        try await TargetOptions.check(excludedLists: changes.excludedLists ?? [], store)
        guard let content = changes.content else { return }
        do {
            _ = try await ContentCheck(ContentText(text: content)).results(applications: applications, store)
        } catch let error as ContentError {
            throw CommandFailure(.data, "The content is not valid: \(error)")
        }
    }
}
